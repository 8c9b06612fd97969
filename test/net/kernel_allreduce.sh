#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kernels that start allreduces: counters show that the host does nothing meanwhile. With engines
# ocl and rv32, and without a switch.
#
#   kernel_allreduce --- 127.0.0.1 --- dxp-manager
#                                 +--- dxpd: xpu1, ... --- dxp-switch at an address of its own
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

for program in kernel_allreduce dxp-switch; do
	[ -x "$DXP_BIN/$program" ] || die "$DXP_BIN/$program is not built"
done

# sums XPUS ROUNDS: the sums are right. The host posts one command to each xPU, whatever the number
# of rounds, and no bytes for more rounds.
sums() {
	timeout 280 kernel_allreduce "$2" >"$scratch/out" 2>&1 ||
		die "kernel_allreduce: $(cat "$scratch/out")"
	expect " 0 rounds: 0 sums started by kernels; the host posted $1 commands" "$scratch/out"
	expect " $2 rounds: $((4 * $1 * $2)) sums started by kernels; the host posted $1 commands" \
		"$scratch/out"
	expect "$1 xPUs, " "$scratch/out"
	expect ": 0 of $((16384 * $1)) numbers differ" "$scratch/out"
	say "ok: $(tail -n 1 "$scratch/out")"
	# Bytes of a run: its launches and events, the same with and without rounds.
	sed -n 's/.*exchanged \([0-9]*\) bytes.*/\1/p' "$scratch/out" | awk '
		NR == 1 { none = $1 }
		END { exit NR != 2 || $1 > 2 * none }' ||
		die "the rounds moved bytes: $(cat "$scratch/out")"
}

refuse 1 'dxp up' kernel_allreduce
refuse 2 'usage: kernel_allreduce [ROUNDS]' kernel_allreduce 0
address=127.79.$(($$ / 250 % 250)).$(($$ % 250 + 1))

say '== without a switch'
dxp up --xpus 2 --memory 64M --port 0
refuse 1 'its dxpd knows no switch; start it with --switch' kernel_allreduce
dxp down

part_here() {
	"$@" >"$scratch/switch.log" 2>&1 &
	parts=$!
	until_says "at $address" "$scratch/switch.log"
}
part_here dxp-switch --address "$address" --plane user
export DXPD_SWITCH=$address

say '== OpenCL'
dxp up --xpus 2 --memory 64M --port 0
sums 2 50
sums 2 1
say '== a switch that is lost'
kernel_allreduce 1000000 >"$scratch/lost" 2>&1 &
host=$!
parts="$host $parts"
for _ in {1..1200}; do
	[ "$(dxp reg xpu1 ALLREDUCES_DONE)" = "$(dxp reg xpu1 ALLREDUCES_FAILED)" ] || break
	sleep 0.1
done
until [ "$(($(dxp reg xpu1 ALLREDUCES_DONE)))" -gt 220 ]; do
	runs "$host" || die "$(cat "$scratch/lost")"
	sleep 0.1
done
kill "${parts##* }"
status=0
wait "$host" || status=$?
[ "$status" -eq 1 ] || die "kernel_allreduce ended with $status: $(cat "$scratch/lost")"
expect 'sums: peer left the fabric or died' "$scratch/lost"
say "ok: $(cat "$scratch/lost")"
dxp down

dxp doctor >"$scratch/doctor" 2>&1 || : # other checks may fail, which is no error here
if grep -q 'engine rv32.*lanes' "$scratch/doctor"; then
	say '== rv32, by instruction'
	part_here dxp-switch --address "$address" --plane user
	dxp up --xpus 3 --memory 64M --port 0 --engine rv32:cores=1
	sums 3 2
	dxp down
else
	left_out rv32 "$(grep 'engine rv32' "$scratch/doctor" || echo 'no engine rv32')"
fi
say passed
