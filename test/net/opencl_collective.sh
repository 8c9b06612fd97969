#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives among xPUs in OpenCL programs: the examples, the program of docs/guide/collectives.md,
# and tests of results, order, errors and lost devices. Also on a platform without the extension,
# and on engine rv32, which has no doubles.
#
#   cl_allreduce --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1 <=> xpu2 <=> xpu3 <=> xpu4
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

# probe PROGRAM [CASE]: runs a test program, or one case of it, and prints what passed.
probe() {
	RIG_SECONDS=300 driver timeout 550 "$OPENCL_TESTS/$1" "${@:2}" >"$scratch/out" 2>&1 ||
		die "$1: $(grep -v '^ok' "$scratch/out")"
	grep '^ok' "$scratch/out" || die "$1: no case ran: $(cat "$scratch/out")"
}

# lose DAEMON PROGRAM CASE: kills the daemon when the program prints "running". The case must pass.
lose() {
	local program
	PROBE_LOST=1 RIG_SECONDS=240 driver timeout 300 "$OPENCL_TESTS/$2" "$3" \
		>"$scratch/out" 2>&1 &
	program=$!
	if ! (until_says running "$scratch/out"); then
		kill "$program"
		exit 1
	fi
	kill -KILL "$(process_of "$1")"
	wait "$program" || die "$(cat "$scratch/out")"
	expect "ok $3" "$scratch/out"
	say "ok: $3"
}

[ -x "$DXP_BIN/cl_allreduce" ] || without_opencl 'cl_allreduce is not built: no OpenCL library'
for program in cl_allreduce cl_gather; do
	if oracle $program >"$scratch/out" 2>&1; then
		die "$program: PoCL has our extensions"
	fi
	expect "; run \`dxp run" "$scratch/out"
done
dxp up --xpus 4 --memory 128M --port 0
driver cl_allreduce | tee "$scratch/out"
expect '4 xPUs, 1000003 numbers: 0 are wrong' "$scratch/out"
dxp run --trace "$scratch/trace" -- "$DXP_BIN/cl_gather" >"$scratch/out" 2>&1 ||
	die "$(cat "$scratch/out")"
expect '4 xPUs: the last of 400012 numbers is 1200033' "$scratch/out"
for name in broadcast all-gather; do
	expect "\"name\":\"$name\"" "$scratch/trace"
done
driver "$OPENCL_TESTS/guide/guide_collectives" | tee "$scratch/out"
expect '1000000 sums on each xPU; the last is 10' "$scratch/out"
for program in probe_collective probe_operations probe_operation_errors; do
	probe $program
done

say '== devices are killed while commands are under way'
lose daemon4 probe_collective allreduce__device_lost
lose daemon3 probe_operations operations__device_lost
dxp down || true

say '== engine rv32'
dxp doctor >"$scratch/doctor" 2>&1 || true # other checks may fail, which is no error here
if grep -q 'engine rv32.*lanes' "$scratch/doctor"; then
	rm -rf "$DXP_DIR"
	dxp up --xpus 2 --memory 128M --port 0 --engine rv32
	probe probe_operations operations__no_double
	dxp down
else
	say "left out: $(grep 'engine rv32' "$scratch/doctor" || echo 'no engine rv32')"
fi
say passed
