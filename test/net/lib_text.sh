# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For what programs print, and what a test prints.

# has [OPTION of grep]... PATTERN: some line of the input fits it. Reads all of it: `grep -q` ends
# at the first such line, whoever writes more dies of it, and with pipefail that is a failure.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}

# Users other than root lack these, where Debian has ldconfig, nft and tc.
PATH=$PATH:/usr/sbin:/sbin

# left_out PART REASON: a part of the test does not run here; the rest goes on. tools/check counts
# the line as a skip of that part. The reason names what is missing and, if it helps, what adds it.
left_out() {
	printf 'skipped: %s: %s\n' "$1" "$2"
}
