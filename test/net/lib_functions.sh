# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts about functions of NICs; source it after lib_fabric.sh.
#
# DXP_RUN is a private folder of this script; the sockets lie in it.
# `server ARGUMENTS...` starts nic_server (examples/two_processes). Its output goes to $server_log,
# its process id to $server_pid, and its address to $server_at.
export DXP_RUN=$scratch/run
mkdir -m 700 "$DXP_RUN"
unset DXP_NIC
servers=()

for program in nic_server nic_client; do
	[ -x "$DXP_BIN/$program" ] || die "$DXP_BIN/$program is not built"
done

# within SECONDS COMMAND...: repeats the command until it succeeds, or fails after SECONDS.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

server() {
	server_log=$scratch/server${#servers[@]}
	nic_server "$@" >"$server_log" 2>&1 &
	server_pid=$!
	servers+=("$server_pid")
	within 10 grep -q 'server: at' "$server_log" || die "no server: $(cat "$server_log")"
	server_at=$(sed -n 's/server: at //p' "$server_log")
}

# server_done: the server must exit by itself with status 0.
server_done() {
	wait "$server_pid" || die "the server ended with $?: $(cat "$server_log")"
}

# Cleans up on every exit, even if the script fails.
finish() {
	local status=$? pid
	set +e
	for pid in "${servers[@]}"; do
		kill "$pid" 2>/dev/null
	done
	(exit $status)
	clean_up
}
trap finish EXIT
