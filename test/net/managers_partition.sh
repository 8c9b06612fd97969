#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three machines, each with a member of etcd and a manager: the network between them fails in
# several ways, members of etcd stall as on a slow disk, and clocks jump, while hosts join and
# leave. A manager without a majority does not act, no confirmed grant is lost or returns, and
# traffic never stops.
#
#   dxpd, commands: 10.99.0.254 ---+--- bridge ---+--- 10.99.0.1: etcd 1, dxp-manager 1
#                                                 +--- 10.99.0.2: etcd 2, dxp-manager 2
#                                                 +--- 10.99.0.3: etcd 3, dxp-manager 3
needs=(etcd python3 nft ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_managers.sh
. "$(dirname "$0")/lib_managers.sh"

readonly net=10.99.0 word=dxp-managers-$$
readonly clock=$DXP_BIN/../test/libshifted-clock.so
readonly managers=$net.1:4795,$net.2:4795,$net.3:4795
readonly store=etcd://$net.1:2379,$net.2:2379,$net.3:2379
readonly members=e1=http://$net.1:2380,e2=http://$net.2:2380,e3=http://$net.3:2380
readonly at=(--manager "$managers" --key "$scratch/key")

namespaces_remove() {
	local status=$? i
	for i in $(ours); do kill -9 "$i" 2>/dev/null || true; done
	for i in 1 2 3; do ip netns del "$word-$i" 2>/dev/null || true; done
	set +e
	(exit $status)
	end_ours
}
trap namespaces_remove EXIT

# on N COMMAND...: runs it on machine N. In the background, $! becomes the command.
on() {
	local machine=$word-$1
	shift
	ip netns exec "$machine" "$@"
}

ip link add br0 type bridge
ip address add $net.254/24 dev br0
ip link set br0 up
for i in 1 2 3; do
	ip netns add "$word-$i" || without 'network namespaces are not allowed'
	ip link add "p$i" type veth peer name eth0 netns "$word-$i"
	ip link set "p$i" master br0 up
	on $i ip link set lo up
	on $i ip address add "$net.$i/24" dev eth0
	on $i ip link set eth0 up
done

etcd_start() {
	ip netns exec "$word-$1" etcd --name "e$1" --data-dir "$scratch/etcd$1" \
		--listen-client-urls "http://$net.$1:2379" \
		--advertise-client-urls "http://$net.$1:2379" \
		--listen-peer-urls "http://$net.$1:2380" \
		--initial-advertise-peer-urls "http://$net.$1:2380" \
		--initial-cluster $members >>"$scratch/etcd$1.log" 2>&1 &
	echo $! >"$scratch/etcd$1.pid"
}

manager_start() {
	echo 0 >"$scratch/boot$1"
	echo 0 >"$scratch/wall$1"
	ip netns exec "$word-$1" env LD_PRELOAD="$clock" SHIFT_BOOT="$scratch/boot$1" \
		SHIFT_WALL="$scratch/wall$1" dxp-manager -v --key "$scratch/key" --new-key \
		--state "$scratch/state$1" --store $store --bind "$net.$1:4795" --admit key \
		--grants explicit >>"$scratch/manager$1.log" 2>&1 &
	echo $! >"$scratch/manager$1.pid"
}

value() { value_of "/dxp/dxp/$1" http://$net.{1,2,3}:2379; }
active() { value active | sed -n "s/$net.\\(.\\):4795/\\1/p"; }
is_active() { [ "$(active)" = "$1" ]; }
other_active() { local now; now=$(active) && [ -n "$now" ] && [ "$now" != "$1" ]; }

# acts N: succeeds if manager N answers as the active one.
acts() { timeout 20 dxp grants --manager "$net.$1:4795" --key "$scratch/key" >/dev/null 2>&1; }

# demoted N COUNT: succeeds if manager N has logged more than COUNT times that it stands by.
demotions() { grep -c 'this manager stands by now' "$scratch/manager$1.log" || true; }
demoted() { [ "$(demotions "$1")" -gt "$2" ]; }

# taken_over FROM COUNT: waits until FROM stands by, and another one acts.
taken_over() {
	wait_for "manager $1 still acts" demoted "$1" "$2"
	wait_for "no other manager is active" other_active "$1"
	wait_for "the fabric does not answer" of_fabric dxp grants
	say "manager $(active) follows $1"
}

# drop N RULE...: machine N drops what matches, in and out.
drop() {
	local machine=$1
	shift
	on "$machine" nft -f - <<-NFT
		table inet cut {
			chain in { type filter hook input priority 0; ${in:-} $* drop; }
			chain out { type filter hook output priority 0; ${out:-} $* drop; }
		}
	NFT
}
heal() { on "$1" nft delete table inet cut; }

say "== three machines"
for i in 1 2 3; do etcd_start $i; done
wait_for "etcd does not answer" value active
manager_start 1
wait_for "manager 1 is not active" logged 'this manager is active now' "$scratch/manager1.log"
manager_start 2
manager_start 3
for i in 2 3; do
	wait_for "manager $i does not stand by" logged 'standing by' "$scratch/manager$i.log"
done
dxpd --engine none --memory 1M --slots 3 --state "$scratch/xpus" --functions 0 -v "${at[@]}" \
	>"$scratch/dxpd.log" 2>&1 &
echo $! >"$scratch/dxpd.pid"
wait_for "the xPUs do not join" logged 'xpu3: node' "$scratch/dxpd.log"
of_fabric dxp grant steady xpu1
of_fabric dxp grant '*' xpu2
dxp ping xpu1 --name steady --count 10000000 --interval 2 "${at[@]}" >"$scratch/steady" 2>&1 &
echo $! >"$scratch/steady.pid"
: >"$scratch/open"
for work in join_and_leave grant_and_revoke; do
	$work &
	echo $! >"$scratch/$work.pid"
done
wait_for "no grant is confirmed" test -s "$scratch/granted"

say "== the active manager reaches no member of etcd"
now=$(active) before=$(demotions "$now")
drop "$now" tcp dport 2379
taken_over "$now" "$before"
! acts "$now" || die "manager $now acts without etcd"
heal "$now"

say "== the active manager and its member of etcd are cut from the other machines"
now=$(active) before=$(demotions "$now")
in='iif != lo' out='oif != lo' drop "$now" tcp dport '{ 2379, 2380 }'
taken_over "$now" "$before"
heal "$now"

say "== no member of etcd reaches another one: nobody acts, nodes continue"
now=$(active) before=$(demotions "$now")
for i in 1 2 3; do drop $i tcp dport 2380; done
wait_for "manager $now acts without a majority" demoted "$now" "$before"
for i in 1 2 3; do
	! acts $i || die "manager $i acts without a majority"
done
runs "$(process steady)" || die "the traffic stopped: $(tail -n 2 "$scratch/steady")"
for i in 1 2 3; do heal $i; done
wait_for "the fabric does not answer" of_fabric dxp grants

say "== each member of etcd stalls, as on a slow disk"
for i in 1 2 3 1 2 3; do
	kill -STOP "$(process etcd$i)"
	sleep 0.8
	kill -CONT "$(process etcd$i)"
	sleep 0.2
done
wait_for "the fabric does not answer" of_fabric dxp grants

say "== the active manager was suspended for 100 s, as its clock shows"
wait_for "nobody is active" acts "$(active)"
now=$(active) before=$(demotions "$now")
echo 100 >"$scratch/boot$now"
wait_for "manager $now acts after a suspension" demoted "$now" "$before"
wait_for "the fabric does not answer" of_fabric dxp grants

say "== the clock of the active manager is set back by an hour, then forward by two"
wait_for "nobody is active" acts "$(active)"
now=$(active) before=$(demotions "$now")
for seconds in -3600 3600; do
	echo $seconds >"$scratch/wall$now"
	of_fabric dxp grant "clock$seconds" xpu3
	echo "clock$seconds" >>"$scratch/granted"
done
[ "$(demotions "$now")" -eq "$before" ] || die "manager $now stands by after its clock was set"

say "== results"
runs "$(process steady)" || die "the traffic stopped: $(tail -n 2 "$scratch/steady")"
touch "$scratch/stop"
for work in join_and_leave grant_and_revoke; do
	wait "$(process $work)" || die "$work ended early"
done
wait_for "the fabric does not answer" of_fabric dxp grants
grants_check steady '*'
say passed
