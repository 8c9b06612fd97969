#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# dxp/device.h as C++, by g++ and clang++.
source "$(dirname "$0")/lib.sh"

found=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { printf 'not here: %s\n' $compiler; continue; }
	found=1
	for standard in c++11 c++17 c++20; do
		build $compiler -x c++ -std=$standard -O2 "${warnings[@]}" -S -o "$scratch/all.s"
	done
done
[ $found = 1 ] || skip 'neither g++ nor clang++; tools/setup check'
