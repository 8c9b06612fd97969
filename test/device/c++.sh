#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles dxp/device.h and the other public headers as C++, with g++ and clang++.
source "$(dirname "$0")/lib.sh"

found=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || {
		left_out $compiler 'not installed; tools/setup check'
		continue
	}
	found=1
	for standard in c++11 c++17 c++20; do
		build $compiler -x c++ -std=$standard -O2 "${warnings[@]}" -S -o "$scratch/all.s"
		for header in "$DXP_SOURCE"/include/dxp/*.h; do
			printf '#include <dxp/%s>\n' "${header##*/}" |
				$compiler -x c++ -std=$standard "${warnings[@]}" \
					-I "$DXP_SOURCE/include" -fsyntax-only - ||
				fail "$header is no $standard for $compiler"
		done
	done
done
[ $found = 1 ] || skip 'neither g++ nor clang++; tools/setup check'
