#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes and a manager work behind NAT and with two interfaces, where others reach them at another
# address than they send from.
#
#   near: dxp, a manager --- [10.76.3.1] v0 ==== v1 [10.76.3.2] --- far: NAT, then a daemon too
#                                                                    |
#                  inside: a daemon, a manager --- [192.168.76.2] w1 ==== w0 [192.168.76.1]
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

readonly dxpd=(dxpd --manager 127.0.0.1 --key "$scratch/key" --engine none --timeout 5)
head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$scratch/key"
chmod 600 "$scratch/key"

say '== wrong addresses'
refuse 2 'needs an address such as' "${dxpd[@]}" --advertise somewhere
refuse 2 'is no address of a machine' "${dxpd[@]}" --advertise 0.0.0.0
refuse 2 'is a multicast address' "${dxpd[@]}" --advertise 239.0.0.1
refuse 2 'is a link-local address' "${dxpd[@]}" --advertise '[fe80::1]'
refuse 2 'have different IP versions' "${dxpd[@]}" --advertise '[2001:db8::7]'
refuse 2 'add --port with the port to which NAT forwards it' "${dxpd[@]}" \
	--advertise 203.0.113.7:5000
refuse 2 'from the advertised port 65535 on exceed port 65535' "${dxpd[@]}" --slots 2 \
	--port 5000 --advertise 203.0.113.7:65535
refuse 2 'needs an address that the nodes reach' dxp-manager --key "$scratch/key" \
	--state "$scratch/state" --advertise '[::]'

without() {
	say "skipped: $*"
	exit 77
}
namespaces_make dxpa 10.76.3 ip nft
readonly inside=dxpa-$$-inside
take_down_inside() {
	local status=$?
	set +e # with set -e, (exit $status) would end the script
	ip netns del "$inside" 2>/dev/null
	(exit $status)
	take_down
}
trap take_down_inside EXIT
ip netns add "$inside"
inside() { ip netns exec "$inside" "$@"; }
far ip link add w0 type veth peer name w1 netns "$inside"
far ip addr add 192.168.76.1/24 dev w0
inside ip addr add 192.168.76.2/24 dev w1
far ip link set w0 up
far ip link set lo up
inside ip link set w1 up
inside ip link set lo up
inside ip route add default via 192.168.76.1
far sysctl -qw net.ipv4.ip_forward=1
far nft -f - <<-'E'
	table ip nat {
		chain prerouting {
			type nat hook prerouting priority -100
		}
		chain postrouting {
			type nat hook postrouting priority 100
			ip saddr 192.168.76.0/24 oif v1 masquerade random
		}
	}
	E

readonly at=(--manager 10.76.3.1 --key "$scratch/key")
part "$near" manager.log 'listening on' dxp-manager --key "$scratch/key" \
	--state "$scratch/state" --bind 10.76.3.1 --admit key --grants any

say '== behind NAT: without --advertise the way to the xPU is blocked'
part "$inside" plain.log 'plain: node' dxpd "${at[@]}" --engine none --memory 64M --name plain
refuse 1 "data path blocked: xPU 'plain'" ip netns exec "$near" dxp ping "${at[@]}" plain --count 1

say '== with --advertise, and a rule that forwards'
part "$inside" nat.log 'nat2: node' dxpd "${at[@]}" --engine none --memory 64M --name nat \
	--slots 2 --port 4900 --advertise 10.76.3.2:5000
expect 'at 192.168.76.2:4900, advertised as 10.76.3.2:5000' "$scratch/nat.log"
expect 'at 192.168.76.2:4901, advertised as 10.76.3.2:5001' "$scratch/nat.log"
! near dxp doctor "${at[@]}" --to nat1 >"$scratch/doctor" || die 'doctor finds no blocked port'
expect 'check that NAT forwards UDP 10.76.3.2:5000' "$scratch/doctor"
refuse 1 'check that NAT forwards UDP 10.76.3.2:5000' ip netns exec "$near" dxp ping "${at[@]}" \
	nat1 --count 1
# The second rule is for flows that the xPU begins.
far nft add rule ip nat prerouting iif v1 udp dport 5000 dnat to 192.168.76.2:4900
far nft insert rule ip nat postrouting oif v1 ip saddr 192.168.76.2 udp sport 4900 \
	snat to 10.76.3.2:5000
near dxp ping "${at[@]}" nat1 --count 100
head -c 3000000 /dev/urandom >"$scratch/in"
near dxp put "${at[@]}" nat1 0 "$scratch/in"
near dxp get "${at[@]}" nat1 0 3000000 "$scratch/back"
cmp "$scratch/in" "$scratch/back" || die 'the bytes differ'
# a check of this machine may fail
near dxp doctor "${at[@]}" --to nat1 >"$scratch/doctor" || :
cat "$scratch/doctor"
grep -qE '^ok +node table .* at 10.76.3.2:5000 \(advertised\)' "$scratch/doctor" || die 'no address'
grep -qE '^ok +data port' "$scratch/doctor" || die 'the data port is not ok'
near dxp nodes "${at[@]}" --json >"$scratch/json"
expect '"advertised": true' "$scratch/json"

say '== an address has one node'
refuse 3 "this address is in use by the node 'nat1' at 10.76.3.2:5000" ip netns exec "$inside" \
	dxpd "${at[@]}" --engine none --memory 1M --name other --port 4950 \
	--advertise 10.76.3.2:5000
refuse 1 "of the node's own machine only" ip netns exec "$inside" \
	dxpd "${at[@]}" --engine none --memory 1M --name other --advertise 127.0.0.1

say '== a manager behind NAT'
far nft add rule ip nat prerouting iif v1 udp dport 4795 dnat to 192.168.76.2:4795
part "$inside" manager2.log 'listening on 0.0.0.0:4795, advertised as 10.76.3.2:4795' \
	dxp-manager --key "$scratch/key" --state "$scratch/state2" --bind 0.0.0.0 --admit key \
	--grants any --advertise 10.76.3.2 --announce "$scratch/announced"
[ "$(cat "$scratch/announced")" = 10.76.3.2:4795 ] || die "announced: $(cat "$scratch/announced")"
readonly second=(--key "$scratch/key" --manager)

say '== two interfaces: the manager is on one side, the host on the other'
part "$far" two.log 'two: node' dxpd "${second[@]}" 192.168.76.2 --engine none --memory 1M \
	--name two --bind 0.0.0.0 --port 4900 --advertise 10.76.3.2
near dxp ping "${second[@]}" "$(cat "$scratch/announced")" two --count 100
say passed
