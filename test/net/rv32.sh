#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts two xPUs with engine rv32. Runs kernels that post by instruction and unchanged OpenCL
# programs, and checks the message for an unknown option.
#
#   program, kernel_put --- 127.0.0.1 --- dxp-manager
#                                    +--- dxpd: xpu1   dxpd: xpu2
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

# Exits with "skipped" unless dxp doctor opens the engine.
engine_needed() {
	dxp doctor >"$scratch/doctor" 2>&1 || : # other checks may fail here
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
dxp up --xpus 2 --memory 128M --port 0 --engine rv32:cores=2
dxp nodes >"$scratch/nodes"
expect rv32 "$scratch/nodes"
timeout 280 kernel_put >"$scratch/out" 2>&1 || die "kernel_put: $(cat "$scratch/out")"
expect 'the picture there is right' "$scratch/out"
say "ok: $(tail -n 1 "$scratch/out")"

say '== OpenCL programs'
if [ -r "$door" ] && [ -x "$programs/printing" ]; then
	for program in printing links binaries kernels subbuffers; do
		OCL_ICD_VENDORS=$door timeout 200 "$programs/$program" >"$scratch/out" 2>&1 ||
			die "$program: $(grep -v '^ok' "$scratch/out")"
		say "ok: $program: $(tail -n 1 "$scratch/out")"
	done
fi
dxp down

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
