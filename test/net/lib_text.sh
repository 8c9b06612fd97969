# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For what programs print.

# has [OPTION of grep]... PATTERN: some line of the input fits it. Reads all of it: `grep -q` ends
# at the first such line, whoever writes more dies of it, and with pipefail that is a failure.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}
