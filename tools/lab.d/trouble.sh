# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # tools/lab defines the variables
# Drops and duplicates packets through nftables. tools/lab sources this file.

# trouble_set KIND PERMILLE [--all] [--switches]: installs rules at cable ends. Packets of a
# switch's XDP plane match only rules of hosts.
trouble_set() {
	local kind=$1 permille match='udp dport 4791' everywhere=0 node family=ip
	permille=$(number "$kind" "${2:-}" 0 1000)
	shift 2
	[ "$kind" != loss ] || family=netdev
	while [ $# -gt 0 ]; do
		case $1 in
		--all) match='' ;;
		--switches) everywhere=1 ;;
		*) usage "'$1' is no option of $kind" ;;
		esac
		shift
	done
	command -v nft >/dev/null || fail 'needs the program nft; try: tools/setup inc'
	for node in "${nodes[@]}"; do
		{
			echo "add table $family dxp-$kind"
			echo "delete table $family dxp-$kind"
			if [ "$permille" -gt 0 ] &&
				{ [ $everywhere = 1 ] || is_host "$node"; }; then
				"${kind}_rules" "$permille" "$match" "$node"
			fi
		} | ip netns exec "$name-$node" nft -f - || fail "nft refuses on $node"
	done
}

# Drops at the device, because the IP stack would report a drop to the sender. At most one drop per
# cable and direction: hosts' rules match their own traffic, switches' rules packets of other
# switches.
loss_rules() {
	local way ways='ingress egress' device=eth0 match=$2
	if ! is_host "$3"; then
		ways=ingress device=br0
		match="ip saddr $NET.$FIRST_SWITCH-$NET.254 $match"
	fi
	echo 'add table netdev dxp-loss'
	for way in $ways; do
		echo "add chain netdev dxp-loss $way" \
			"{ type filter hook $way device $device priority 0; }"
		echo "add rule netdev dxp-loss $way $match numgen random mod 1000 < $1 counter drop"
	done
}

# The copy goes through a gateway that is also its destination, host or switch.
dup_rules() {
	local to device=eth0
	is_host "$3" || device=br0
	echo 'add table ip dxp-dup'
	echo 'add chain ip dxp-dup output { type filter hook output priority 0; }'
	for to in "${nodes[@]}"; do
		[ "$to" = "$3" ] ||
			echo "add rule ip dxp-dup output ip daddr $(address_of "$to") $2" \
				"numgen random mod 1000 < $1" \
				"dup to $(address_of "$to") device $device"
	done
}

lab_loss() { state_load "${1:-}"; trouble_set loss "${@:2}"; }
lab_dup() { state_load "${1:-}"; trouble_set dup "${@:2}"; }

