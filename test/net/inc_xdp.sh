#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The XDP plane between four hosts, without loss and with a tenth lost each way, beside TCP on the
# same ports.
#
#   h0 10.99.0.1 v === p0 \
#   h1 10.99.0.2 v === p1  | bridge br0 10.99.0.254: XDP on p0 .. p3
#   h2 10.99.0.3 v === p2  |
#   h3 10.99.0.4 v === p3 /
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

DXP_BIN=$(cd "${DXP_BIN:-$(dirname "$0")/../../build/bin}" && pwd)
hosts=$DXP_BIN/../test/xdp-hosts
readonly hosts

without() { echo "skipped: $1"; exit 77; }
[ -x "$hosts" ] || without "this build has no XDP plane: $hosts is not there"
[ "$(id -u)" -eq 0 ] || without 'needs root for network namespaces'
command -v ip >/dev/null || without 'needs the program ip'

readonly word=dxpx-$$
names=()

take_down() {
	local status=$? name
	for name in "${names[@]}"; do
		ip netns del "$name"
	done
	[ $status -eq 0 ] || [ $status -eq 77 ] || echo "failed; replay: DXP_BIN=$DXP_BIN $0"
}
trap take_down EXIT

# space NAME: makes a namespace that the script removes at exit.
space() {
	ip netns add "$1" 2>/dev/null || without 'network namespaces are not allowed'
	names+=("$1")
	ip netns exec "$1" ip link set lo up 2>/dev/null ||
		without 'network namespaces cannot be entered'
}

space "$word-s"
ip -n "$word-s" link add br0 type bridge mcast_snooping 0
ip -n "$word-s" addr add 10.99.0.254/24 dev br0
ip -n "$word-s" link set br0 up
for i in 0 1 2 3; do
	space "$word-h$i"
	ip -n "$word-h$i" link add v type veth peer name "p$i" netns "$word-s"
	ip -n "$word-h$i" addr add "10.99.0.$((i + 1))/24" dev v
	ip -n "$word-h$i" link set v up
	ip -n "$word-s" link set "p$i" master br0 up
done

run() {
	timeout 120 "$hosts" "$word-s" "$word-h0" "$word-h1" "$word-h2" "$word-h3" "$1"
}

echo 'quiet:'
run 5000
command -v nft >/dev/null || {
	left_out 'packets that are lost' 'needs the program nft'
	exit 0
}
for i in 0 1 2 3; do
	# Contributions drop on egress, so the sender gets no error, results on ingress.
	ip netns exec "$word-h$i" nft "
		table netdev loss {
			chain in { type filter hook ingress device v priority 0;
				udp dport 4791 numgen random mod 100 < 10 drop; }
			chain out { type filter hook egress device v priority 0;
				udp dport 4791 numgen random mod 100 < 10 drop; }
		}" 2>/dev/null || {
		left_out 'packets that are lost' 'no chain of nftables on ingress and egress here'
		exit 0
	}
done
echo 'a tenth lost either way:'
run 1000
