#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A failing OpenCL call or allocation ends cl_train with status 1 and a message: each function's
# first, fourth, sixteenth ... call, until a run passes. On local PoCL.
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

readonly failing=$DXP_BIN/../test/libfailing-cl.so
[ -x "$DXP_BIN/cl_train" ] || without_opencl 'cl_train is not built: no OpenCL library'
[ -r "$failing" ] || without_opencl "$failing is not built"
! nm -D "$DXP_BIN/cl_train" 2>/dev/null | has asan || without_opencl 'ASan rejects preloading'
readonly TRAIN=(cl_train --sum host --drawn 20 --batch 4 --epochs 1)

oracle "${TRAIN[@]}" >"$scratch/out" 2>&1 || die "$(cat "$scratch/out")"
# With one device, the way host has nothing to add.
expect '2 xPUs, summed by host' "$scratch/out"

runs=0
for call in clGetPlatformIDs clGetDeviceIDs clCreateContext clCreateCommandQueue \
	clCreateProgramWithSource clBuildProgram clCreateKernel clSetKernelArg clCreateBuffer \
	clEnqueueFillBuffer clEnqueueReadBuffer clEnqueueWriteBuffer clEnqueueNDRangeKernel \
	clRetainMemObject clRetainEvent clWaitForEvents clFlush clFinish; do
	for ((at = 1; ; at *= 4)); do
		status=0
		FAIL_CALL=$call FAIL_AT=$at LD_PRELOAD=$failing oracle timeout 120 "${TRAIN[@]}" \
			>"$scratch/out" 2>"$scratch/err" || status=$?
		runs=$((runs + 1))
		[ $status -ne 0 ] || break
		[ $status -eq 1 ] || die "status $status after $call $at: $(cat "$scratch/err")"
		expect 'cl_train: ' "$scratch/err"
	done
	[ "$at" -gt 1 ] || die "the first $call did not fail"
done
say "$runs runs with a failed call"

(
	ulimit -v 500000
	refuse 1 'out of memory for' cl_train --sum host --drawn 1000000
)
say passed
