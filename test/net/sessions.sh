#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests sessions between two machines: the path MTU is smaller than the MTU of both ends, a machine
# changes its address, a daemon exits.
#
#   near: dxp-manager, dxp --- [10.77.0.1] v0 ==== v1 [10.77.0.2, then .3] --- far: dxpd: xpu1
#                              MTU 9000    200 Mbit/s
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"

without() {
	say "$*"
	exit 77
}
manager='' daemon='' transfer=''
ours() { echo "$transfer $daemon $manager"; }
namespaces_make dxpt 10.77.0 ip ethtool nft tc
# segmented before v0, so the filters see each packet
near ethtool -K v0 tx-udp-segmentation off >/dev/null
far ethtool -K v1 tx-udp-segmentation off >/dev/null
near tc qdisc add dev v0 root tbf rate 200mbit burst 64k latency 5ms

readonly at=(--manager 10.77.0.1 --key "$scratch/key")

# wait_for FILE TEXT: waits up to 120 s for the text.
wait_for() {
	for _ in {1..2400}; do # 120 s
		! grep -qF -- "$2" "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	die "'$2' is not in: $(cat "$1")"
}

daemon_start() {
	: >"$scratch/daemon.log" # otherwise the wait could find the text of an earlier daemon
	ip netns exec "$far" dxpd "${at[@]}" --engine none --memory 64M --state "$scratch/daemon" \
		>"$scratch/daemon.log" 2>&1 &
	daemon=$!
	wait_for "$scratch/daemon.log" xpu1
}

ip netns exec "$near" dxp-manager --key "$scratch/key" --new-key --state "$scratch/state" \
	--bind 10.77.0.1 --admit key --grants any >"$scratch/manager.log" 2>&1 &
manager=$!
wait_for "$scratch/manager.log" 'listening on'
daemon_start
head -c 40000000 /dev/urandom >"$scratch/sent"

# same NAME: the xPU's memory must equal the sent bytes.
same() {
	near dxp get "${at[@]}" xpu1 0 40000000 "$scratch/back" >/dev/null
	cmp "$scratch/sent" "$scratch/back" || die "$1: other bytes came back"
	say "ok: $1"
}

sent_bytes() { near cat /sys/class/net/v0/statistics/tx_bytes; }

# await_bytes BYTES: waits for 2 of the transfer's 40 MB; BYTES: the counter before.
await_bytes() {
	for _ in {1..2400}; do # at most 120 s
		[ "$(sent_bytes)" -lt $(($1 + 2000000)) ] || break
		sleep 0.05
	done
	runs "$transfer" || die "the transfer has ended already: $(cat "$scratch/put")"
}

say "== interfaces of 9000, and a path that carries 1500"
far nft add table inet path
far nft add chain inet path in '{ type filter hook input priority 0; }'
far nft add rule inet path in meta length gt 1500 drop
near dxp put "${at[@]}" xpu1 0 "$scratch/sent" >/dev/null
far nft delete table inet path
same "a narrow path"

say "== another address under a running transfer"
dd if=/dev/urandom of="$scratch/sent" bs=1M count=30 conv=notrunc status=none
before=$(sent_bytes)
ip netns exec "$near" dxp put "${at[@]}" xpu1 0 "$scratch/sent" >"$scratch/put" 2>&1 &
transfer=$!
await_bytes "$before"
far ip addr flush dev v1
far ip addr add 10.77.0.3/24 dev v1
wait $transfer || die "the transfer ended: $(cat "$scratch/put")"
transfer=''
expect 'address of this machine has changed' "$scratch/daemon.log"
near dxp nodes "${at[@]}" --json | has '"address": "10.77.0.3' ||
	die "the table has the old one"
same "the transfer went on at the new address"

say "== the interface takes less under a running transfer"
before=$(sent_bytes)
ip netns exec "$near" dxp put "${at[@]}" xpu1 0 "$scratch/sent" >"$scratch/put" 2>&1 &
transfer=$!
await_bytes "$before"
near ip link set v0 mtu 1500
# Too long packets are not sent again in pieces, so the transfer restarts with shorter ones.
wait $transfer || die "the transfer ended: $(cat "$scratch/put")"
transfer=''
same "the transfer went on with shorter packets"

say "== a daemon that exits notifies its hosts"
ip netns exec "$near" dxp ping "${at[@]}" xpu1 --count 10000000 >"$scratch/ping" 2>&1 &
transfer=$!
sleep 0.5
kill $daemon
wait $daemon || true
daemon=''
begin=$(date +%s%N)
wait $transfer && die "the pings go on"
transfer=''
elapsed_ms=$((($(date +%s%N) - begin) / 1000000))
[ $elapsed_ms -lt 3000 ] || die "that took $elapsed_ms ms, as if the daemon had sent no BYE"
say "ok: $(tail -n 1 "$scratch/ping")"
daemon_start
near dxp ping "${at[@]}" xpu1 --count 5 >/dev/null
say "ok: and is back"
