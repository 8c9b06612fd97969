#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xPUs with memory of their device (OpenCL with separate memory, CUDA with a fake driver) behave as
# any xPU.
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd: xpu1, xpu2, bridged
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

fake=$(dirname "$DXP_BIN")/test/fake_cuda
head -c 5000001 /dev/urandom >"$scratch/data"

# memory ENGINE: writes and reads back odd addresses of one xPU, and of both at once.
memory() {
	dxp nodes | tee "$scratch/nodes"
	[ "$(grep -Ec "xpu[12] +xpu +$1 +64M  bridged  alive " "$scratch/nodes")" -eq 2 ] ||
		die "the xPUs are not bridged ones of $1"
	dxp put xpu1 4099 "$scratch/data"
	dxp get xpu1 4099 5000001 "$scratch/back"
	cmp "$scratch/data" "$scratch/back"
	dxp put xpu1 1 "$scratch/data" & local first=$!
	dxp put xpu2 7M "$scratch/data"
	wait "$first"
	dxp get xpu1 1 5000001 - 2>/dev/null | cmp "$scratch/data" -
	dxp get xpu2 7M 5000001 - 2>/dev/null | cmp "$scratch/data" -
	refuse 1 "has 67108864 bytes" dxp get xpu1 64M 1 "$scratch/beyond"
}

say "== ocl+bridged"
dxp up --engine ocl+bridged --memory 64M --port 0
memory ocl
"$DXP_BIN/hello_xpu" | tee "$scratch/hello"
grep -q ' 0 errors' "$scratch/hello" || die "a kernel computes wrongly in bridged memory"
dxp down

say "== cuda, by the fake driver"
export LD_LIBRARY_PATH=$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -e "$fake/libcuda.so.1" ] || die "there is no $fake/libcuda.so.1; build the target fake-cuda"
dxp doctor >"$scratch/doctor" || true
grep -q '^ok    engine cuda .*Fake GPU A.*memory bridged' "$scratch/doctor" ||
	die "the doctor does not see the driver"
dxp up --engine cuda --memory 64M --port 0
memory cuda
dxp down
