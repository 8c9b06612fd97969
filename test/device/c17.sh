#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles dxp/device.h as C17, with gcc and clang.
source "$(dirname "$0")/lib.sh"

found=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || {
		left_out $compiler 'not installed; tools/setup check'
		continue
	}
	found=1
	for level in -O0 -O2 -O3; do
		build $compiler -x c -std=c17 $level "${warnings[@]}" -Wshadow -Wwrite-strings \
			-Wstrict-prototypes -Wmissing-prototypes -S -o "$scratch/all.s"
	done
	case $(uname -m) in
	x86_64) emitted "$scratch/all.s" 'lock.*cmpxchg' 'compare-and-swap' ;;
	aarch64)
		emitted "$scratch/all.s" 'stlr' 'store-release'
		emitted "$scratch/all.s" 'ldap?r' 'load-acquire'
		;;
	esac
done
[ $found = 1 ] || skip 'neither gcc nor clang; tools/setup check'
