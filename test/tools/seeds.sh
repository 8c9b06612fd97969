#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/seeds-check. The table of the project must pass, and each kind of error must be found.
set -euo pipefail

check=${DXP_SOURCE:?set by ctest}/tools/seeds-check
tree=$(mktemp --directory --tmpdir dxp-seeds.XXXXXX)
readonly check tree
trap 'rm -rf "$tree"' EXIT
failures=0
cd "$tree"
mkdir -p docs/reference
touch there.c

# table_with SCRIPT: writes the table, a file per row, changed by the sed script.
table_with() {
	sed -E "s/^(\| [A-Z]-[0-9]+ \|)[^|]*\|.*/\1 a point | \`there.c\` | |/" \
		"$DXP_SOURCE/docs/reference/seeds.md" |
		sed "$1" >docs/reference/seeds.md
}

finds() { # sed-script pattern
	local output status=0
	table_with "$1"
	output=$("$check") || status=$?
	if [ "$status" -ne 1 ] || ! grep -q "$2" <<<"$output"; then
		printf 'FAILED: "%s" not found after: %s\n%s\n' "$2" "$1" "$output"
		failures=$((failures + 1))
	fi
}

table_with ''
"$check" || failures=$((failures + 1))
finds '/^| C-07 /d' 'C-07 has no row'
finds '/^| N-12 /p' 'N-12 has a row too many'
finds '/^| X-05 /s/there/gone/' 'X-05 names gone.c'
finds "/^| S-01 /s/\`there.c\`//" 'S-01 names no file'
finds "/^| P-01 /s/\`there.c\` | |/not yet | \`there.c\` |/" 'P-01 is not here'
finds "/^| C-05 /s/\`there.c\` | |/hardware model | \`there.c\` |/" 'C-05 is not here'
finds "/^| C-05 /s/\`there.c\`/hardware/" 'C-05 names no file'
finds "/^| C-05 /s/a point/\`there__no_more\`/" 'C-05 names there__no_more'
(cd "$DXP_SOURCE" && "$check") || failures=$((failures + 1))
[ $failures -eq 0 ]
