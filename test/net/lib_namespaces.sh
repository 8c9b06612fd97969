# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts about two machines; source it after lib_fabric.sh. Removes the namespaces at
# exit.
#
#   near: [SUBNET.1] v0 ==== v1 [SUBNET.2] :far      MTU 9000
#
# Before use, the script defines two functions. `ours` prints the ids of the script's processes,
# which must stop before the namespaces are removed. `without SENTENCE` prints the sentence and
# exits; it is called if namespaces are not possible.

# namespaces_make WORD SUBNET PROGRAM...: makes two namespaces named after WORD. Calls `without` if
# a PROGRAM is missing.
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
	set +e # with set -e, the next line would end the script
	(exit $status)
	clean_up
}

# near COMMAND..., far COMMAND...: run in the namespace. In the background, $! becomes the command,
# by exec.
near() { ip netns exec "$near" "$@"; }
far() { ip netns exec "$far" "$@"; }
