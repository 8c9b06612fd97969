#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# dxp/device.h must compile as C for 32-bit RISC-V without a library.
source "$(dirname "$0")/lib.sh"

command -v clang >/dev/null || skip 'no clang; tools/setup check'
[[ $(clang --print-targets) == *riscv32* ]] || skip 'this clang does not know riscv32'

rv() {
	build clang -x c --target=riscv32 -march=rv32imaf -mabi=ilp32 -ffreestanding \
		-DDXP_DEVICE_ALONE -std=c17 -O2 "${warnings[@]}" -Wshadow "$@"
}
rv -S -o "$scratch/all.s"
emitted "$scratch/all.s" 'fence[[:space:]]+rw, w' 'release'
emitted "$scratch/all.s" 'fence[[:space:]]+r, rw' 'acquire'
emitted "$scratch/all.s" 'fence[[:space:]]+rw, rw' 'full fence'
emitted "$scratch/all.s" 'lr\.w' 'compare-and-swap'
called=$(sed -n 's/^[[:space:]]*\(call\|tail\)[[:space:]]*\([a-z_0-9]*\).*/\2/p' "$scratch/all.s" |
	sort -u | while read -r name; do grep -q "^$name:" "$scratch/all.s" || echo "$name"; done)
[ -z "$called" ] || fail "calls what is not there: $called"
