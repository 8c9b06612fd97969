# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Matches the output of programs, and prints results of tests.

# has [OPTION of grep]... PATTERN: whether an input line matches. Reads all input: `grep -q` exits
# at the first match, so the writer would die of SIGPIPE and pipefail would fail.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}

# Debian's ordinary PATH lacks ldconfig, nft and tc.
PATH=$PATH:/usr/sbin:/sbin

# left_out PART REASON: reports a skipped part, which tools/check counts; others run. REASON: what
# is missing and, if possible, the command that installs it.
left_out() {
	printf 'skipped: %s: %s\n' "$1" "$2"
}
