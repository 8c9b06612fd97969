# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Matches the output of programs, and prints results of tests.

# has [OPTION of grep]... PATTERN: succeeds if a line of the input matches. It reads all input.
# `grep -q` would exit at the first match; the writer would then die of SIGPIPE, and pipefail would
# make this a failure.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}

# In Debian, the PATH of ordinary users lacks the folders of ldconfig, nft and tc.
PATH=$PATH:/usr/sbin:/sbin

# left_out PART REASON: reports that a part of the test is skipped; the other parts run. tools/check
# counts the line as a skip of this part. REASON names what is missing and, if possible, the command
# that installs it.
left_out() {
	printf 'skipped: %s: %s\n' "$1" "$2"
}
