# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Matches the output of programs, and prints results of tests.

# has [OPTION of grep]... PATTERN: succeeds if a line of the input matches. Reads all input: `grep
# -q` exits at the first match, the writer then dies of SIGPIPE, and pipefail makes that a failure.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}

# Debian's PATH of ordinary users lacks the folders of ldconfig, nft and tc.
PATH=$PATH:/usr/sbin:/sbin

# left_out PART REASON: reports that a part of the test is skipped; the rest continues. tools/check
# counts the line as a skip of that part. REASON names the missing thing and, if possible, the
# command that installs it.
left_out() {
	printf 'skipped: %s: %s\n' "$1" "$2"
}
