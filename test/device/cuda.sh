#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles dxp/device.h as CUDA device and host code. Device loads and stores must have system
# scope. Needs nvcc, but no GPU.
source "$(dirname "$0")/lib.sh"

nvcc=$(command -v nvcc || true)
[ -n "$nvcc" ] || { [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc; }
[ -n "$nvcc" ] || skip 'no nvcc: the CUDA toolkit is not installed'

readonly flags=(-x cu -std=c++17 --Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror)
build "$nvcc" "${flags[@]}" -arch=compute_75 -ptx -o "$scratch/all.ptx"
emitted "$scratch/all.ptx" 'st\.release\.sys(\.global)?\.u32' 'store-release for the system'
emitted "$scratch/all.ptx" 'ld\.acquire\.sys(\.global)?\.u32' 'load-acquire for the system'
emitted "$scratch/all.ptx" 'ld\.acquire\.sys(\.global)?\.u64' '64-bit load-acquire for the system'
emitted "$scratch/all.ptx" 'atom(\.global)?\.sys\.cas\.b32' 'compare-and-swap for the system'
emitted "$scratch/all.ptx" 'membar\.sys|fence\.(sc|acq_rel)\.sys' 'fence for the system'
build "$nvcc" "${flags[@]}" -gencode arch=compute_75,code=compute_75 -c -o "$scratch/all.o"
