#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Idle processes sleep: each of several that wait for each other uses less than 1 % of a core over 2
# s.
#
#   nic_server --[vf 1]-- dxpd: NIC of xpu1      dxp-manager
#   nic_server: NIC of its own, with a thread
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_functions.sh
. "$(dirname "$0")/lib_functions.sh"

# ran_ns PID: CPU time of all its threads.
ran_ns() {
	awk '{ ns += $1 } END { printf "%.0f\n", ns }' "/proc/$1/task"/*/schedstat
}

[ -r /proc/self/schedstat ] || {
	echo 'skipped: no /proc/PID/schedstat; the kernel is built without CONFIG_SCHED_INFO'
	exit 77
}
dxp up --xpus 1 --memory 64M --port 0
server xpu1 0
attached=$server_pid
timeout 120 nic_client xpu1 >/dev/null # lets each process be active once
server --own mine 0
embedded=$server_pid
timeout 120 nic_client mine >/dev/null
processes=("attached server:$attached" "server with a NIC:$embedded" "dxpd:$(process_of daemon1)"
	"dxp-manager:$(process_of manager)")

sleep 1.5 # waits until sessions are idle

# used_little: each process used less than 1 % of a core over 2 s.
used_little() {
	local before=() begin lasted status=0 i p used
	for p in "${processes[@]}"; do
		before+=("$(ran_ns "${p#*:}")")
	done
	begin=$(date +%s%N)
	sleep 2
	lasted=$(($(date +%s%N) - begin))
	for i in "${!processes[@]}"; do
		used=$(($(ran_ns "${processes[i]#*:}") - before[i]))
		say "$(awk -v n="${processes[i]%:*}" -v u=$used -v l=$lasted \
			'BEGIN { printf "%-18s %.3f %% of a core", n, 100 * u / l }')"
		[ $((used * 100)) -lt $lasted ] || status=1
	done
	return $status
}

# repeated: on a loaded machine sessions become idle later
for _ in {1..5}; do
	status=0
	used_little || status=1
	[ $status -ne 0 ] || break
done
[ $status -eq 0 ] || die 'more than 1 % of a core, though idle'
say passed
