# SPDX-License-Identifier: BSD-3-Clause
# Turns the layout in docs/reference/window.md into checks of dxp/device.h. all.c calls every
# function; each test compiles it with its compiler, with warnings as errors.
set -euo pipefail

readonly headers=("$DXP_SOURCE"/include/dxp/{window,shared,device}.h)
readonly document=$DXP_SOURCE/docs/reference/window.md
readonly every=$DXP_SOURCE/test/device/all.c

# Warning options that gcc and clang accept for C and C++.
readonly warnings=(-Wall -Wextra -pedantic -Werror -Wconversion -Wsign-conversion -Wcast-qual
	-Wcast-align -Wundef -Wpointer-arith)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { printf '%s\n' "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; }
# shellcheck source=test/net/lib_text.sh
. "$DXP_SOURCE/test/net/lib_text.sh" # defines left_out

# Writes the document's tables as CHECK_ rows: a struct's size, offsets and lack of gaps; a name's
# value.
layout() {
	awk '
	/^### `struct / {
		ended()
		name = $3; sub(/`.*/, "", name); size = $(NF - 1); next_offset = 0
		printf "CHECK_SIZE(%s, %s)\n", name, size
		next
	}
	/^## |^### / { ended() }
	function ended() {
		if (name != "" && next_offset != size)
			printf "#error %s: rows end at %s of %s\n", name, next_offset, size
		name = ""
	}
	name != "" && /^\| [0-9]+ \| [0-9]+ \| `/ {
		field = $6; gsub(/`/, "", field)
		if ($2 != next_offset)
			printf "#error %s.%s: at %s, the row before ends at %s\n", name, field, $2,
				next_offset
		next_offset = $2 + $4
		printf "CHECK_FIELD(%s, %s, %s, %s)\n", name, field, $2, $4
	}
	/^\| `DXP_[A-Z_]*` \| (0x)?[0-9a-f]+ \|/ {
		gsub(/`/, "", $2)
		printf "CHECK_TRUE(%s == %s)\n", $2, $4
	}
	END { ended() }' "$document" >"$scratch/layout.h"
	awk '/^CHECK_SIZE/ { n++ } END { exit n < 7 }' "$scratch/layout.h" ||
		fail "$document: fewer than 7 structs found"
}

# Fails if the document or all.c lacks a name of the header.
complete() {
	local name missing=
	for name in $(sed -n 's/^#define \(DXP_[A-Z_]*\)  *[0-9].*/\1/p' "${headers[@]}") \
		$(grep -ohE '\bDXP_(OP|FLAG|EVENT|FUNCTION)_[A-Z_]*[A-Z]\b' "${headers[@]}" |
			sort -u); do
		case $name in DXP_DEVICE_*) continue ;; esac
		grep -q "^| \`$name\` |" "$document" || missing+=" $name"
	done
	[ -z "$missing" ] || fail "$document has no row for:$missing"
	for name in $(awk '/^struct dxp_|^\tstruct dxp_function_counters {/ && /{$/ { print $2 }' \
		"${headers[@]}"); do
		[ "$name" = dxp_target ] || grep -q "^### \`struct $name\`" "$document" ||
			missing+=" $name"
	done
	[ -z "$missing" ] || fail "$document has no table for:$missing"
	for name in $(grep -ohE '^(DXP_FN .*|dxp_[a-z0-9_]*\()' "${headers[@]}" |
		grep -oE '\bdxp_[a-z0-9_]+\(' | sort -u); do
		grep -qF "$name" "$every" || missing+=" $name"
	done
	[ -z "$missing" ] || fail "$every does not call:$missing"
}

# build COMPILER ARGUMENT...: compiles all.c and prints the command.
build() {
	"$@" -DLAYOUT="\"$scratch/layout.h\"" -I"$DXP_SOURCE/include" "$every"
	printf 'ok: %s\n' "$*"
}

# emitted FILE PATTERN WHAT: fails unless a line of the compiler's output matches.
emitted() {
	grep -qE "$2" "$1" || fail "no $3 in what the compiler made: $2"
	printf 'ok: %s: %s times\n' "$3" "$(grep -cE "$2" "$1")"
}

layout
complete
