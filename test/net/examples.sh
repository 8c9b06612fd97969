#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the self-contained examples, on a fabric that is started as in the manual.
#
#   hello_xpu, ring --- 127.0.0.1 --- dxp-manager
#                                +--- dxpd: xpu1   dxpd: xpu2   dxpd: xpu3
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

for program in hello_xpu ring; do
	[ -x "$DXP_BIN/$program" ] || die "$DXP_BIN/$program is not built"
done
refuse 1 'dxp up' hello_xpu
dxp up --xpus 3 --memory 64M --port 0
hello_xpu | tee "$scratch/out"
expect 'added 65536 pairs of numbers, 0 errors' "$scratch/out"
ring 20 | tee "$scratch/out"
expect '3 xPUs, 20 rounds: 60 is expected everywhere, 0 of 4096 numbers differ' "$scratch/out"
dxp down
refuse 1 'dxp up' ring
say passed
