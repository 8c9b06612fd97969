# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts about two machines: after lib_fabric.sh. The namespaces are gone when the script is.
#
#   near: [SUBNET.1] v0 ==== v1 [SUBNET.2] :far      MTU 9000
#
# The script says two things, as functions:
#   ours                  prints the ids of its processes, to end before the namespaces go
#   without SENTENCE      ends the script, where there can be no namespaces

# namespaces_make WORD SUBNET PROGRAM...: their names begin with WORD; needs the programs.
namespaces_make() {
	local word=$1 subnet=$2 program
	shift 2
	[ "$(id -u)" -eq 0 ] || without 'needs root for network namespaces'
	for program; do
		command -v "$program" >/dev/null || without "needs the program $program"
	done
	readonly near=$word-$$-near far=$word-$$-far
	ip netns add "$near" 2>/dev/null || without 'network namespaces are not allowed'
	ip netns exec "$near" true 2>/dev/null || {
		ip netns del "$near"
		without 'network namespaces cannot be entered: the root here is no mount'
	}
	trap take_down EXIT
	ip netns add "$far"
	near ip link add v0 mtu 9000 type veth peer name v1 mtu 9000 netns "$far"
	near ip addr add "$subnet.1/24" dev v0
	far ip addr add "$subnet.2/24" dev v1
	near ip link set lo up
	near ip link set v0 up
	far ip link set v1 up
}

take_down() {
	local status=$? process
	for process in $(ours); do
		! kill "$process" 2>/dev/null || wait "$process" 2>/dev/null || true
	done
	ip netns del "$near"
	ip netns del "$far" 2>/dev/null || true
	set +e # or the next line would be the last
	(exit $status)
	clean_up
}

# Each in its namespace; one in the background is `ip netns exec "$near"` itself, so that $! is the
# program.
near() { ip netns exec "$near" "$@"; }
far() { ip netns exec "$far" "$@"; }
