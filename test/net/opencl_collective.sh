#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Allreduce among xPUs in OpenCL programs: the example, and a test of results, order, errors and a
# lost device. Also on a platform without the extension.
#
#   cl_allreduce --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1 <===> xpu2 <===> xpu3
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

[ -x "$DXP_BIN/cl_allreduce" ] || without_opencl 'cl_allreduce is not built: no OpenCL library'
if oracle cl_allreduce >"$scratch/out" 2>&1; then
	die 'PoCL has our extensions'
fi
expect 'no platform has clEnqueueAllreduceDXP; run `dxp run' "$scratch/out"
dxp up --xpus 3 --memory 64M --port 0
driver cl_allreduce | tee "$scratch/out"
expect '3 xPUs, 1000003 numbers: 0 are wrong' "$scratch/out"
driver timeout 300 "$OPENCL_TESTS/probe_collective" >"$scratch/out" 2>&1 ||
	die "$(cat "$scratch/out")"
say "$(grep '^ok' "$scratch/out")"

say '== a device is killed while sums are under way'
PROBE_LOST=1 RIG_SECONDS=120 driver timeout 150 "$OPENCL_TESTS/probe_collective" \
	allreduce__device_lost >"$scratch/out" 2>&1 &
probe=$!
parts=$probe
until_says running "$scratch/out"
kill -KILL "$(process_of daemon3)"
wait $probe || die "$(cat "$scratch/out")"
expect 'ok allreduce__device_lost' "$scratch/out"
dxp down || true
say passed
