#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A silent peer does not end a session: stopped OpenCL programs, all packets dropped for 1.9 s and
# 2.9 s, a link down for 2 s, each during a transfer.
#
#   1.  programs --- 127.0.0.1 --- dxpd: xpu1
#   2.  near: dxp-manager, dxp --- [10.77.0.1] v0 ==== v1 [10.77.0.2] --- far: dxpd: xpu1
#                                  200 Mbit/s
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

probe=$OPENCL_TESTS/probe_faults
readonly probe
[ -x "$probe" ] || without_opencl 'probe_faults is not built: no OpenCL library'

readonly lease_ms=4500

# stopped MILLISECONDS: stops the probe for this time.
stopped() {
	kill -STOP "$holder"
	sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
	kill -CONT "$holder"
}

# hold SECONDS: starts a program that holds buffers and runs kernels so long.
hold() {
	: >"$scratch/held" # otherwise the wait could find the text of an earlier program
	OCL_ICD_VENDORS=$OPENCL_DRIVER "$probe" held "$1" >"$scratch/held" 2>&1 &
	holder=$!
	parts="$holder $parts"
	until_says ready "$scratch/held"
}

say '== an OpenCL program is stopped for longer than its lease'
dxp up --xpus 1 --memory 64M --port 0
hold 7
stopped $((lease_ms + 1500))
wait "$holder" || die "the program: $(cat "$scratch/held")"
expect 'held over' "$scratch/held"
say "ok: $(tail -n 1 "$scratch/held")"
dxp down

say '== a network that carries nothing'
namespaces_make dxpl 10.77.0 ip tc nft
near tc qdisc add dev v0 root tbf rate 200mbit burst 128k latency 5ms
readonly at=(--manager 10.77.0.1 --key "$scratch/key")
part "$near" manager.log 'listening on' dxp-manager --key "$scratch/key" --new-key \
	--state "$scratch/state" --bind 10.77.0.1 --admit key --grants any
part "$far" daemon.log xpu1 dxpd "${at[@]}" --engine none --memory 80M
head -c $((64 << 20)) /dev/urandom >"$scratch/sent"

# drop SECONDS: drops all packets; one call of nft per end keeps the time exact.
drop() {
	# shellcheck disable=SC2016 # the inner shell expands $1
	far sh -c 'nft -f - && sleep "$1"; nft delete table inet cut' sh "$1" <<-'E'
		table inet cut {
			chain in { type filter hook input priority 0; policy drop; }
			chain out { type filter hook output priority 0; policy drop; }
		}
	E
}

unplug() {
	far ip link set v1 down
	sleep "$1"
	far ip link set v1 up
}

# await_bytes BYTES: waits for so many more received bytes.
received() { far cat /sys/class/net/v1/statistics/rx_bytes; }
await_bytes() {
	local until=$(($(received) + $1))
	for _ in {1..2400}; do # at most 120 s
		[ "$(received)" -lt "$until" ] || return 0
		sleep 0.05
	done
	die "no transfer: $(cat "$scratch/put")"
}

# survives WHAT...: a PUT of 64 MiB must succeed while the command WHAT runs.
survives() {
	ip netns exec "$near" dxp put "${at[@]}" xpu1 0 "$scratch/sent" >"$scratch/put" 2>&1 &
	local transfer=$!
	parts="$transfer $parts"
	await_bytes $((4 << 20))
	runs $transfer || die "$*: the transfer ended before: $(cat "$scratch/put")"
	"$@"
	wait $transfer || die "$*: the transfer ended: $(cat "$scratch/put")"
	near dxp get "${at[@]}" xpu1 0 $((64 << 20)) "$scratch/back" >/dev/null
	cmp "$scratch/sent" "$scratch/back" || die "$*: other bytes came back"
	say "ok: $*"
}
survives drop 1.9
survives drop 2.9
survives unplug 2
say passed
