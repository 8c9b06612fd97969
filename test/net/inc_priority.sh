#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Priority between forwarded and computed packets. In the switch's arbiter, with h3's control
# packets without end: --weights decides. At the ports, with h3 filling the link to h1:
# --socket-priority decides whether results wait.
#
#          s0
#       /  |  |  \
#     h0  h1  h2  h3      h3: inc-flood; members on the others
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

root=10.77.0.241

# members_start LONGEST: starts three members; waits until operations complete.
members_start() {
	job_start 3 -- calls=100000000 deadline=60000 create=20000 "longest=$1"
	for _ in {1..1200}; do # at most 120 s
		[ "$(switch_count $root results)" -lt 50 ] || return 0
		sleep 0.1
	done
	die 'no operation is complete'
}

members_end() {
	kill -9 "${job[@]}"
	wait "${job[@]}" 2>/dev/null || true
	job=()
}

# first WEIGHTS: floods the arbiter until there are enough packets. `forwarded`, `computed`: packets
# of a class served while the other waited.
first() {
	lab_make --hosts 4 --depth 1 --leaves 1 --plane user --switch-options "--weights $1"
	members_start 200000
	for _ in {1..20}; do
		on h3 "$tests/inc-flood" query $root 1 >/dev/null
		forwarded=$(switch_count $root forwarded_first)
		computed=$(switch_count $root computed_first)
		[ $((forwarded + computed)) -lt 2000 ] || break
	done
	[ "$(switch_count $root computed_queued)" -gt 0 ] || die 'the arbiter queued nothing'
	members_end
	say "weights $1: first were $forwarded forwarded, $computed computed packets"
	[ $((forwarded + computed)) -ge 2000 ] || die 'the classes do not compete'
}

say '== the arbiter'
first 1:16
[ $((2 * forwarded)) -lt "$computed" ] || die 'computed packets were not preferred'
[ "$forwarded" -gt 0 ] || die 'forwarded packets starve'
first 16:1
[ "$forwarded" -gt $((4 * computed)) ] || die 'forwarded packets were not preferred'
[ "$computed" -gt 0 ] || die 'computed packets starve'

# results PRIORITY: prints the operations that complete in 3 s while others fill the link to h1.
results() {
	local before
	lab_make --hosts 4 --depth 1 --leaves 1 --plane user --switch-options \
		"--socket-priority $1"
	members_start 256
	ip netns exec "$lab-s0" tc qdisc replace dev h1 root handle 1: tbf rate 10mbit \
		burst 20000 latency 200ms &&
		ip netns exec "$lab-s0" tc qdisc replace dev h1 parent 1:1 handle 2: pfifo_fast || {
		left_out 'the ports' 'tc sets no tbf with pfifo_fast here'
		exit 0
	}
	# 2500 packets/s of up to 1400 bytes exceed 10 Mbit/s
	on h3 "$tests/inc-flood" garbage 10.77.0.2 600 0 0 2500 >/dev/null &
	job+=($!)
	for _ in {1..1200}; do # at most 120 s
		[ "$(drops)" -eq 0 ] || break
		sleep 0.1
	done
	[ "$(drops)" -gt 0 ] || die 'the link to h1 is not full'
	before=$(switch_count $root results)
	sleep 3
	count=$(($(switch_count $root results) - before))
	members_end
	say "socket priority $1: $count operations"
}

# drops: prints how many packets the port to h1 has dropped.
drops() {
	ip netns exec "$lab-s0" tc -s qdisc show dev h1 |
		sed -n '0,/.*dropped \([0-9]*\).*/s//\1/p'
}

say '== the ports'
results 0
without=$count
results 6
[ "$count" -gt $((4 * without + 20)) ] || die 'results were not preferred'
say passed
