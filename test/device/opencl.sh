#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles dxp/device.h as OpenCL C 1.2, 2.0 and 3.0 (also without optional atomics), with clang.
# opencl_run runs the result.
source "$(dirname "$0")/lib.sh"

command -v clang >/dev/null || skip 'no clang; tools/setup check'

cl() {
	build clang -x cl --target=spir64 -O1 -Wall -Wextra -pedantic -Werror -Wconversion \
		-Wsign-conversion -Wundef -Wpointer-arith -S -emit-llvm -o "$scratch/all.ll" "$@"
}
# memory order as an argument: 2 is acquire, 3 release
atomics() {
	emitted "$scratch/all.ll" 'atomic_store_explicit.*i32 (noundef )?3,' 'store-release'
	emitted "$scratch/all.ll" 'atomic_load_explicit.*i32 (noundef )?2,' 'load-acquire'
	emitted "$scratch/all.ll" 'call.*atomic_compare_exchange_strong' 'compare-and-swap'
}
fences() {
	emitted "$scratch/all.ll" 'store volatile i32' 'volatile store'
	emitted "$scratch/all.ll" 'call.*mem_fence' 'fence'
	emitted "$scratch/all.ll" 'call.*atomic_cmpxchg' 'compare-and-swap'
}

cl -cl-std=CL1.2
fences
cl -cl-std=CL2.0
atomics
cl -cl-std=CL3.0
atomics
cl -cl-std=CL3.0 --target=x86_64 -Xclang -cl-ext=-all
fences
