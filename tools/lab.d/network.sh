# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # tools/lab defines the variables
# The topology of a lab, and the namespaces, bridges and cables that form it. tools/lab sources this
# file.

# The topology follows from the numbers of hosts, leaves, middles and spines. Switches are numbered
# spines, middles (only with depth 3), leaves.

is_host() { [[ $1 = h* ]]; }
address_of() {
	is_host "$1" && echo "$NET.$((${1#h} + 1))" || echo "$NET.$((FIRST_SWITCH + ${1#s}))"
}
mac_of() {
	is_host "$1" && printf '02:77:00:00:00:%02x\n' $((${1#h} + 1)) ||
		printf '02:77:01:00:00:%02x\n' "${1#s}"
}

# share INDEX COUNT PARTS: of COUNT elements in PARTS parts that differ by at most one, prints the
# part of element INDEX.
share() { echo $(($1 * $3 / $2)); }

# Prints the switch above a node; s0 for several spines, nothing for a spine.
parent_of() {
	local k=${1#?}
	if is_host "$1"; then
		echo "s$((spines + middles + $(share "$k" "$hosts" "$leaves")))"
	elif [ "$k" -ge $((spines + middles)) ] && [ "$middles" -gt 0 ]; then
		echo "s$((spines + $(share $((k - spines - middles)) "$leaves" "$middles")))"
	elif [ "$k" -ge "$spines" ] && [ "$depth" -gt 1 ]; then
		echo s0
	fi
}

children_of() {
	local node
	for node in "${nodes[@]}"; do
		[ "${parent[$node]:-}" != "$1" ] || echo "$node"
	done
}

ports_of() {
	local node=$1
	if is_spine "$node"; then
		children_of s0
	else
		children_of "$node"
	fi
}

is_spine() { ! is_host "$1" && [ "${1#s}" -lt "$spines" ]; }

# Succeeds if the spines are directly above the node.
below_spine() { [ "$depth" -gt 1 ] && [ "${parent[$1]:-}" = s0 ]; }

plan() {
	local i
	switches=$((spines + middles + leaves))
	nodes=()
	declare -gA parent=()
	for ((i = 0; i < switches; i++)); do nodes+=("s$i"); done
	for ((i = 0; i < hosts; i++)); do nodes+=("h$i"); done
	for i in "${nodes[@]}"; do parent[$i]=$(parent_of "$i"); done
}

# root_of N: prints the square root of N, rounded up.
root_of() { awk -v n="$1" 'BEGIN { r = int(sqrt(n)); print r * r < n ? r + 1 : r }'; }

shape() {
	[ -n "$hosts" ] || usage '--hosts is needed'
	case $depth in
	1)
		[ -z "$leaves" ] || [ "$leaves" -eq 1 ] || usage '--depth 1 has one switch'
		[ "$spines" -eq 1 ] || usage '--depth 1 has no spines'
		leaves=1 spines=0 middles=0 ;;
	2) leaves=${leaves:-$(root_of "$hosts")} middles=0 ;;
	3) leaves=${leaves:-$(root_of "$hosts")} middles=$(root_of "$leaves") ;;
	esac
	[ "$leaves" -le "$hosts" ] || usage "more leaves ($leaves) than hosts ($hosts)"
	[ $((spines + middles + leaves)) -le $SWITCHES_MAX ] ||
		usage "that makes $((spines + middles + leaves)) switches; at most $SWITCHES_MAX"
}

node_make() {
	local ns=$name-$1
	ip netns add "$ns" || fail "cannot make the namespace $ns"
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
	ip -n "$ns" link set lo up
}

# Prints commands for `ip -n SWITCH -batch`: a switch's bridge, and a cable to each node below.
switch_plan() {
	local node=$1 child end
	echo "link add br0 address $(mac_of "$node") mtu $mtu type bridge stp_state 0" \
		"forward_delay 0 mcast_snooping 0"
	echo "addr add $(address_of "$node")/24 brd + dev br0"
	echo "link set br0 up"
	for child in $(ports_of "$node"); do
		end=eth0
		is_host "$child" || end=$node
		printf 'link add %s mtu %s type veth peer name %s' "$child" "$mtu" "$end"
		is_host "$child" && printf ' address %s' "$(mac_of "$child")"
		printf ' mtu %s netns %s\n' "$mtu" "$name-$child"
		echo "link set $child master br0 up"
		# A second spine's ports are isolated: the first already connects the switches, so
		# this would be a loop.
		[ "$node" = s0 ] || [ "${node#s}" -ge "$spines" ] ||
			echo "link set $child type bridge_slave isolated on"
	done
}

# Prints commands that add cables to nodes above as ports of the bridge.
uplink_plan() {
	local k
	if below_spine "$1"; then
		for ((k = 0; k < spines; k++)); do echo "link set s$k master br0 up"; done
	elif [ -n "${parent[$1]}" ]; then
		echo "link set ${parent[$1]} master br0 up"
	fi
}

# port_towards SWITCH NODE: prints the port on the path to the node.
port_towards() {
	local at=$2
	while [ -n "$at" ]; do
		if [ "${parent[$at]}" = "$1" ] || { is_spine "$1" && below_spine "$at"; }; then
			echo "$at"
			return
		fi
		at=${parent[$at]}
	done
	# Not below the switch: the port to another spine if directly below the spines, otherwise to
	# the switch above.
	if below_spine "$1" && is_spine "$2"; then
		echo "$2"
	else
		echo "${parent[$1]}"
	fi
}

# With two spines, static entries on every bridge fix the path to each address, and static
# neighbours the addresses, so no path depends on learning.
ways_set() {
	local node other device
	[ "$spines" -gt 1 ] || return 0
	for node in "${nodes[@]}"; do
		is_host "$node" && device=eth0 || device=br0
		for other in "${nodes[@]}"; do
			[ "$node" = "$other" ] || echo "neigh replace $(address_of "$other")" \
				"lladdr $(mac_of "$other") dev $device nud permanent"
		done | ip -n "$name-$node" -batch -
		is_host "$node" && continue
		for other in "${nodes[@]}"; do
			[ "$node" = "$other" ] || { is_spine "$node" && is_spine "$other"; } ||
				echo "fdb replace $(mac_of "$other")" \
					"dev $(port_towards "$node" "$other") master static sticky"
		done | bridge -n "$name-$node" -batch -
	done
}

# --rate limits each end of a cable. Packets queue up to 50 ms. The burst, 128 us of the rate and at
# least two packets, is small enough to limit short messages too.
rates_set() {
	local node device burst=$((rate * 16 > 2 * mtu + 100 ? rate * 16 : 2 * mtu + 100))
	[ "$rate" -gt 0 ] || return 0
	for node in "${nodes[@]}"; do
		for device in $(ip -n "$name-$node" -o link show type veth |
			sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p'); do
			echo "qdisc replace dev $device root tbf rate ${rate}mbit burst $burst" \
				"latency 50ms"
		done | tc -n "$name-$node" -batch - || fail 'tc sets no rates here'
	done
}

network_make() {
	local node
	for node in "${nodes[@]}"; do node_make "$node"; done
	for node in "${nodes[@]}"; do
		is_host "$node" || switch_plan "$node" | ip -n "$name-$node" -batch -
	done
	for node in "${nodes[@]}"; do
		if is_host "$node"; then
			echo "addr add $(address_of "$node")/24 brd + dev eth0"
			echo "link set eth0 up"
		else
			uplink_plan "$node"
		fi | ip -n "$name-$node" -batch -
	done
	ways_set
	rates_set
}

