#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests memory of boards on another machine: with packet loss, with a slow device, and with peers
# that exit.
#
#   near: dxp-manager, dxp --- [10.79.0.1] v0 ==== v1 [10.79.0.2] --- far: dxpd fast1, slow1, fast2
#                                       MTU 1500, 1 % loss
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_bridge.sh
. "$(dirname "$0")/lib_bridge.sh"

without() {
	say "$*"
	exit 77
}
parts='' client=''
ours() { echo "$client $parts"; }
namespaces_make dxpb 10.79.0 ip nft tc
near ip link set v0 mtu 1500
far ip link set v1 mtu 1500

# part NAMESPACE NAME TEXT COMMAND...: starts a command, whose log must contain TEXT within 10 s.
# Sets $last to its process id.
part() {
	local namespace=$1 log=$scratch/$2.log text=$3
	shift 3
	: >"$log" # otherwise the wait could find the text of an earlier program
	ip netns exec "$namespace" "$@" >"$log" 2>&1 &
	last=$!
	parts="$last $parts"
	for _ in {1..2400}; do # at most 120 s
		! grep -qF -- "$text" "$log" || return 0
		sleep 0.05
	done
	die "'$text' is not in: $(cat "$log")"
}

mkdir "$DXP_DIR"
readonly at=(--manager 10.79.0.1 --key "$DXP_DIR/fabric.key" --memory 64M --share-cache)
# alive NAME: waits up to 10 s for the node to be alive.
alive() {
	for _ in {1..1200}; do # at most 120 s
		! near dxp nodes | has " $1 .* alive " || return 0
		sleep 0.1
	done
	die "$1 is not alive: $(near dxp nodes; cat "$scratch/$1.log")"
}

# dead NAME: waits up to 10 s for the node not to be alive.
dead() {
	for _ in {1..1200}; do # at most 120 s
		near dxp nodes | has " $1 .* alive " || return 0
		sleep 0.1
	done
	die "$1 is still alive: $(near dxp nodes)"
}

part "$near" manager 'listening on' dxp-manager --key "$DXP_DIR/fabric.key" --new-key \
	--state "$scratch/state" --bind 10.79.0.1 --admit key --grants any
echo 10.79.0.1:4795 >"$DXP_DIR/manager"

# daemon NAME ENGINE [OPTION...]: starts a daemon with one xPU.
daemon() {
	local name=$1 engine=$2
	shift 2
	part "$far" "$name" "$name" dxpd "${at[@]}" --name "$name" --engine "$engine" \
		--state "$scratch/$name" "$@"
	alive "$name"
}
slow=$(board_file slow.board 'preset = fast' 'to_device = 2' 'from_device = 20' 'latency = 100000')
daemon fast1 board:fast
fast1=$last
daemon slow1 "board:$slow" --buffer-bytes 64K
slow1=$last
readonly here=(ip netns exec "$near")

# resident PROCESS: prints its resident memory in kB.
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }

say "== into a board's memory on another machine, with one command"
near dxp nodes | tee "$scratch/nodes"
grep -q ' fast1 .* bridged ' "$scratch/nodes" || die "dxp nodes does not print bridged"
random_file data 30000001
there_and_back fast1 5 data "${here[@]}"

say "== a slow board delays its senders, and no others"
random_file little 10000000
random_file quick 2000000
before=$(resident "$slow1")
begin=${EPOCHREALTIME/./}
ip netns exec "$near" dxp put slow1 0 "$scratch/little" 2>"$scratch/slow" &
client=$!
sleep 0.3
there_and_back fast1 5 quick "${here[@]}"
wait $client || die "the slow put failed: $(cat "$scratch/slow")"
[ $((${EPOCHREALTIME/./} - begin)) -ge 4000000 ] ||
	die "10 MB at 2 MB/s ended at once: $(cat "$scratch/slow")"
client=''
say "ok: $(cat "$scratch/slow")"
grown=$(($(resident "$slow1") - before))
# kB: 10 MB of device memory, rings of 1 MiB, state of sessions
[ $grown -le 16000 ] || die "the slow daemon grew by $grown kB"
near dxp get slow1 0 10000000 "$scratch/back" 2>/dev/null
cmp "$scratch/little" "$scratch/back" || die "other bytes are in the slow board"

say "== 1 % loss"
for side in near far; do
	$side nft add table inet path
	$side nft add chain inet path in '{ type filter hook input priority 0; }'
	$side nft add rule inet path in numgen random mod 100 == 0 drop
done
there_and_back fast1 77 data "${here[@]}"
random_file little 1000001
there_and_back slow1 1 little "${here[@]}"
for side in near far; do
	$side nft delete table inet path
done

# killed COMMAND...: kills a client during a transfer; repeated, because it may exit before the
# kill.
killed() {
	for _ in {1..10}; do
		ip netns exec "$near" "$@" >/dev/null 2>&1 &
		client=$!
		sleep 0.4
		if runs $client && kill -9 $client 2>/dev/null; then
			wait $client 2>/dev/null || true
			client=''
			return
		fi
		wait $client 2>/dev/null || true
	done
	die "'$*' had ended already, ten times"
}

say "== clients that are killed in the middle"
random_file long 40000000
for _ in 1 2 3; do
	killed dxp put slow1 0 "$scratch/long"
	killed dxp get slow1 0 40000000 /dev/null
done
there_and_back slow1 3 little "${here[@]}"
kill -0 "$slow1" 2>/dev/null || die "the daemon is gone: $(cat "$scratch/slow1.log")"
[ $(($(resident "$slow1") - before)) -le 60000 ] || die "it keeps $(resident "$slow1") kB"

say "== one that reads over a slow network and is killed, when all is on its way to it"
far tc qdisc add dev v1 root tbf rate 10mbit burst 64k latency 50ms
for bytes in 900000 5000000; do
	killed dxp get fast1 0 $bytes /dev/null
done
far tc qdisc del dev v1 root
sleep 5 # the lease of a host expires after 4.5 s
kill -0 "$fast1" 2>/dev/null || die "the daemon is gone: $(cat "$scratch/fast1.log")"
there_and_back fast1 1 quick "${here[@]}"

say "== a daemon that is killed in the middle"
ip netns exec "$near" dxp put slow1 0 "$scratch/long" >"$scratch/said" 2>&1 &
client=$!
sleep 0.4
kill -9 "$slow1"
wait "$slow1" 2>/dev/null || true
begin=$SECONDS
! wait $client || die "a put into a board that is gone went well"
client=''
[ $((SECONDS - begin)) -le 30 ] || die "that took $((SECONDS - begin)) s"
expect error "$scratch/said"
say "ok: $(tail -n 1 "$scratch/said")"
dead slow1 # otherwise the old lease looks like the lease of the new daemon
daemon slow1 "board:$slow" --buffer-bytes 64K
slow1=$last
there_and_back slow1 3 little "${here[@]}"
kill -0 "$fast1" || die "the other daemon is gone"
there_and_back fast1 0 data "${here[@]}"
say passed
