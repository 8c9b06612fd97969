#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Four xPUs with engine rv32: kernels that post by instruction, unchanged OpenCL programs, and the
# message for an unknown option.
#
#   program, kernel_put, allreduce --- 127.0.0.1 --- dxp-manager
#                                               +--- dxpd: xpu1   xpu2   xpu3   xpu4
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

# Exits with "skipped" unless dxp doctor opens the engine.
engine_needed() {
	dxp doctor >"$scratch/doctor" 2>&1 || : # other checks may fail, which is no error here
	if ! grep -q 'engine rv32.*lanes' "$scratch/doctor"; then
		say "skipped: $(grep 'engine rv32' "$scratch/doctor" || echo 'no engine rv32')"
		exit 77
	fi
}

engine_needed
programs=$DXP_BIN/../test/opencl
door=$DXP_BIN/../lib/libdxp-opencl.so

say '== options'
status=0
dxp up --xpus 1 --memory 64M --port 0 --engine rv32:speed=9 >"$scratch/out" 2>&1 || status=$?
[ $status -ne 0 ] || die 'an unknown option is accepted'
grep -rhqF "engine rv32 has no option 'speed'" "$scratch" || die 'the option is not named'
rm -rf "$DXP_DIR"

say '== kernels that send by instruction'
dxp up --xpus 4 --memory 128M --port 0 --engine rv32:cores=2
dxp nodes >"$scratch/nodes"
expect rv32 "$scratch/nodes"
timeout 280 kernel_put >"$scratch/out" 2>&1 || die "kernel_put: $(cat "$scratch/out")"
expect 'the picture there is right' "$scratch/out"
say "ok: $(tail -n 1 "$scratch/out")"
timeout 280 allreduce 2 >"$scratch/out" 2>&1 || die "allreduce: $(cat "$scratch/out")"
expect '4 xPUs, 2 rounds by their kernels' "$scratch/out"
expect ': 0 of 65536 sums differ' "$scratch/out"
say "ok: $(cat "$scratch/out")"
refuse 2 'usage: allreduce [ROUNDS]' allreduce 0

say '== OpenCL programs'
if [ -r "$door" ] && [ -x "$programs/printing" ]; then
	for program in printing links binaries kernels subbuffers; do
		OCL_ICD_VENDORS=$door timeout 200 "$programs/$program" >"$scratch/out" 2>&1 ||
			die "$program: $(grep -v '^ok' "$scratch/out")"
		say "ok: $program: $(tail -n 1 "$scratch/out")"
	done
fi

readonly item='work-item (5,0,0)'
say '== stores outside an argument'
if [ -r "$door" ] && [ -x "$programs/probe_bounds" ]; then
	OCL_ICD_VENDORS=$door timeout 200 "$programs/probe_bounds" >"$scratch/out" 2>&1 ||
		die "probe_bounds: $(cat "$scratch/out")"
	cat "$DXP_DIR"/run/*.log >"$scratch/log"
	readonly argument="of argument 0 'out'"
	expect "kernel 'store', $item: stores 1 byte at 0x10000064, offset 100 $argument (100 " \
		"$scratch/log"
	expect "kernel 'wide', $item: stores 4 bytes at 0x10000061, offset 97 $argument (100 " \
		"$scratch/log"
	expect "kernel 'store', $item: stores 1 byte at 0x10300001, offset 3145729 $argument " \
		"$scratch/log"
	expect "offset 1001 $argument (1001 bytes)" "$scratch/log"
	say "ok: $(tail -n 1 "$scratch/out")"
fi

say '== the program learns why its kernel failed'
if [ -r "$door" ] && [ -x "$programs/probe_failures" ]; then
	dxp run --driver "$door" -- "$programs/probe_failures" failures__of_a_work_item \
		>"$scratch/out" 2>"$scratch/said" || die "probe_failures: $(cat "$scratch/out")"
	expect "dxp: device 'rv32imaf SIMT, 2 cores of 32 lanes on xpu1': kernel 'store', $item" \
		"$scratch/said"
	say "ok: $(tail -n 1 "$scratch/out")"
fi

say '== profile of a program'
if [ -r "$door" ] && [ -x "$programs/kernels" ]; then
	dxp run --profile --driver "$door" -- "$programs/kernels" ranges__by_chance \
		>"$scratch/out" 2>"$scratch/said" || die "$(cat "$scratch/out")"
	grep -qE '^ *SHARE +INSTRUCTIONS' "$scratch/said" || die "$(cat "$scratch/said")"
	readonly row='^ *[0-9.]+% +[1-9].* ids +[0-9]+  out\[i \* 4\] = get_global_id'
	grep -qE "$row" "$scratch/said" ||
		die "no row of a line: $(cat "$scratch/said")"
	dxp run --profile --json --driver "$door" -- "$programs/kernels" ranges__by_chance \
		>"$scratch/out" 2>"$scratch/said" || die "$(cat "$scratch/out")"
	expect '"item_instructions": ' "$scratch/said"
	dxp run --profile --driver "$door" -- true 2>"$scratch/said"
	expect 'no profile: no kernel ran' "$scratch/said"
	say 'ok: a profile by source line'
fi
if [ -r "$door" ] && [ -x "$programs/probe_cycles" ]; then
	OCL_ICD_VENDORS=$door "$programs/probe_cycles" cycles__without_a_model \
		>"$scratch/out" 2>&1 || die "probe_cycles: $(cat "$scratch/out")"
fi
dxp down

say '== cycles of a launch by the model of time'
if [ -r "$door" ] && [ -x "$programs/probe_cycles" ]; then
	dxp up --xpus 1 --memory 64M --port 0 --engine rv32:time=vortex-4x4
	OCL_ICD_VENDORS=$door timeout 200 "$programs/probe_cycles" cycles__of_a_kernel \
		>"$scratch/out" 2>&1 || die "probe_cycles: $(cat "$scratch/out")"
	dxp down
fi

say '== kernels without an end'
if [ -r "$door" ] && [ -x "$programs/probe_failures" ]; then
	dxp up --xpus 1 --memory 64M --port 0 --engine rv32:limit=1
	OCL_ICD_VENDORS=$door timeout 200 "$programs/probe_failures" failures__of_endless_kernels \
		>"$scratch/out" 2>&1 || die "probe_failures: $(tail -n 5 "$scratch/out")"
	say 'ok: each ends at the limit of time'
	dxp down
fi

say '== list of instructions'
if [ -r "$door" ] && [ -x "$programs/kernels" ]; then
	DXP_LOG=info dxp up --xpus 1 --memory 64M --port 0 --engine rv32:trace=3
	OCL_ICD_VENDORS=$door timeout 200 "$programs/kernels" ranges__by_chance \
		>"$scratch/out" 2>&1 || die "kernels: $(cat "$scratch/out")"
	cat "$DXP_DIR"/run/*.log >"$scratch/log"
	grep -qE "trace: kernel 'ids' core 0 warp 0 pc 0x[0-9a-f]{8} mask [0-9a-f]{8}  [a-z]" \
		"$scratch/log" || die 'no instruction is listed'
	dxp down
fi

say '== listing a file'
status=0
dxp rv32 disasm "$0" >"$scratch/out" 2>&1 || status=$?
[ $status -eq 1 ] || die 'a script is listed as a program'
expect 'give an ELF object or executable for riscv32' "$scratch/out"

say '== benchmark: equal results, one instruction for a post'
timeout 280 dxp bench rv32 --quick --rounds 1 --json >"$scratch/out" ||
	die "dxp bench rv32: $(cat "$scratch/out")"
expect '"contender":"dxp.post","metric":"instructions","value":1.0,' "$scratch/out"
expect '"case":"empty kernel, finished","contender":"engine rv32"' "$scratch/out"
say "ok: $(wc -l <"$scratch/out") rows"
