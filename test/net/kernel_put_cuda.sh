#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests a CUDA kernel that sends while it runs. Skipped without a device.
#
#   kernel_put_cuda (its NIC: gpu-PID) --- 127.0.0.1 --- dxp-manager
#                                                   +--- dxpd: xpu1
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

[ -x "$DXP_BIN/kernel_put_cuda" ] || die "$DXP_BIN/kernel_put_cuda is not built"
dxp up --xpus 1 --memory 64M --port 0
for _ in 1 2 3; do
	status=0
	timeout 120 kernel_put_cuda >"$scratch/out" 2>&1 || status=$?
	[ $status -ne 77 ] || { cat "$scratch/out"; exit 77; }
	[ $status -eq 0 ] || die "it ended with $status: $(cat "$scratch/out")"
	expect 'the CUDA device computed 64 blocks' "$scratch/out"
	expect 'the picture there is right' "$scratch/out"
	say "ok: $(tail -n 2 "$scratch/out")"
done
say passed
