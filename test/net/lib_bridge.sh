# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts about boards; source it after lib_fabric.sh.

# board_file NAME LINE...: writes a board file; prints its path.
board_file() {
	local file=$scratch/$1
	shift
	printf '%s\n' "$@" >"$file"
	printf '%s\n' "$file"
}

# random_file NAME BYTES: writes a file of new random bytes.
random_file() {
	head -c "$2" /dev/urandom >"$scratch/$1"
}

# there_and_back XPU ADDRESS FILE [COMMAND...]: writes a file to memory, reads it back and compares.
# COMMAND precedes `dxp`.
there_and_back() {
	local xpu=$1 address=$2 file=$scratch/$3 bytes
	shift 3
	bytes=$(stat -c %s "$file")
	"$@" dxp put "$xpu" "$address" "$file" 2>"$scratch/said" ||
		die "put: $(cat "$scratch/said")"
	"$@" dxp get "$xpu" "$address" "$bytes" "$scratch/back" 2>"$scratch/said" ||
		die "get: $(cat "$scratch/said")"
	cmp "$file" "$scratch/back" || die "$xpu at $address: other bytes came back"
	say "ok: $bytes bytes into $xpu at $address and back"
}
