#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests an OpenCL program that moves bytes between two xPUs through our extensions, by the host and
# by a kernel. Also runs it on a platform without these extensions.
#
#   cl_transfer --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1 ===> dxpd: xpu2
#                                                              <===
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

[ -x "$DXP_BIN/cl_transfer" ] || without_opencl 'cl_transfer is not built: no OpenCL library'
if oracle cl_transfer >"$scratch/out" 2>&1; then
	die 'PoCL has our extensions'
fi
expect 'the platform has no clEnqueueTransferBufferDXP; run `dxp run' "$scratch/out"
dxp up --xpus 2 --memory 64M --port 0
driver cl_transfer | tee "$scratch/out"
expect 'by the host: 262144 bytes arrived' "$scratch/out"
expect 'by a kernel: 262144 bytes arrived' "$scratch/out"
dxp down
say passed
