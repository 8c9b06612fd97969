#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests docs/guide/troubleshooting.md: each message in the first column of its tables is in the
# code. "..." in a message stands for names and numbers.
set -euo pipefail

cd "${DXP_SOURCE:?set by ctest}"
readonly page=docs/guide/troubleshooting.md
scratch=$(mktemp --directory --tmpdir dxp-troubleshooting.XXXXXX)
readonly scratch
trap 'rm -rf "$scratch"' EXIT

# All string literals of one text in one piece, each text on a line of its own.
find cmd src plugins include -name '*.[ch]' -print0 | xargs -0 cat | tr '\n' ' ' |
	sed 's/"[ \t]*"//g; s/"/\n/g' >"$scratch/texts"

# there MESSAGE: succeeds if one text of the code has all parts of the message in their order.
there() {
	# The parts become a basic regular expression.
	sed 's/[][\\.*^$]/\\&/g; s/\\\.\\\.\\\./.*/g' <<<"$1" >"$scratch/pattern"
	grep -qf "$scratch/pattern" "$scratch/texts"
}

count=0 failures=0
while IFS= read -r message; do
	count=$((count + 1))
	there "$message" && continue
	printf 'not in the code: %s\n' "$message"
	failures=$((failures + 1))
done < <(sed -n 's/^| `\([^`]*\)` |.*/\1/p' "$page")
[ $count -gt 40 ] || { printf 'FAILED: only %d messages in %s\n' $count "$page"; exit 1; }
[ $failures -eq 0 ] || { printf 'FAILED: %d of %d messages\n' $failures $count; exit 1; }
printf 'passed: %d messages\n' $count
