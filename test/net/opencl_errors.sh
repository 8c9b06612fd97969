#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that a program receives the errors of a node's OpenCL driver through the OpenCL plugin.
#
#   probe_errors --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1   dxpd: xpu2
#                                                          |             |
#                                                      a PoCL that rejects some kernels
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

probe=$OPENCL_TESTS/probe_errors
driver=$OPENCL_TESTS/../librefusing-icd.so
readonly probe driver
[ -x "$probe" ] || without_opencl 'probe_errors is not built: no OpenCL library'
[ -r "$driver" ] || without_opencl 'librefusing-icd.so is not built'
ldconfig -p | grep 'libpocl\.so\.2' >"$scratch/pocl" || without_opencl 'no libpocl.so.2'

OCL_ICD_VENDORS=$driver dxp up --xpus 2 --memory 256M --port 0
driver timeout 120 "$probe" >"$scratch/out" 2>&1 || die "$(cat "$scratch/out")"
say "$(grep -v '^same' "$scratch/out")"
for case in driver crash; do
	driver timeout 120 "$OPENCL_TESTS/probe_failures" "failures__of_a_$case" \
		>"$scratch/out" 2>&1 || die "$(cat "$scratch/out")"
	say "$(grep '^ok' "$scratch/out")"
done
dxp down
say passed
