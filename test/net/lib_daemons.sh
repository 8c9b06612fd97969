# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts that start processes in the background and wait for texts in their logs.
# Source it after lib_fabric.sh. It kills these processes when the script exits.
mine=()
ours() { echo "${mine[@]}"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_processes.sh"

# start LOG TEXT COMMAND...: starts a command; waits up to 120 s for the text in its log.
start() {
	local log=$scratch/$1 text=$2
	shift 2
	"$@" >"$log" 2>&1 &
	mine+=($!)
	for _ in {1..2400}; do
		! grep -qsE -- "$text" "$log" || return 0
		sleep 0.05
	done
	die "'$text' is not in: $(cat "$log")"
}
