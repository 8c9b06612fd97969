#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Killed programs leave no worker, and no file in the run folder; their counters are kept.
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd daemon1: xpu1
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
started=''
ours() { echo "$started"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

# within SECONDS COMMAND...: repeats the command until it succeeds, or fails after this time.
within() {
	local i limit=$1
	shift
	for ((i = 0; i < limit * 20; i++)); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

say "== a worker whose dxpd is killed while its engine starts"
mkdir "$scratch/vendors"
mkfifo "$scratch/vendors/never.icd" # opening this file blocks until a writer opens it
head -c 32 /dev/zero | od -An -v -tx1 | tr -d ' \n' >"$scratch/key"
chmod 600 "$scratch/key"
OCL_ICD_VENDORS=$scratch/vendors dxpd --manager 127.0.0.1:9 --key "$scratch/key" --memory 16M \
	>"$scratch/daemon.log" 2>&1 &
daemon=$!
started=$daemon
worker_waits() {
	worker=$(ps -o pid= --ppid $daemon | tr -d ' ')
	[ -n "$worker" ] && grep -qs OpenCL "/proc/$worker/maps"
}
within 20 worker_waits || die "no worker opens its engine: $(cat "$scratch/daemon.log")"
started="$daemon $worker"
kill -9 $daemon
ended() { ! runs "$1"; }
within 20 ended "$worker" || die "the worker $worker is left"

say "== files and sockets of an xPU that was killed"
export DXP_STATS=$scratch/run
dxp up --xpus 1 --memory 16M --port 0 --engine none
manager=$(cat "$DXP_DIR/manager")
dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --memory 16M --engine none --first 9 \
	>"$scratch/daemon9.log" 2>&1 &
daemon=$!
started=$daemon
joined() { grep -q '^xpu9: node' "$scratch/daemon9.log"; }
within 20 joined || die "xpu9 has not joined: $(cat "$scratch/daemon9.log")"
[ -S "$DXP_RUN/xpu9.nic/vf7" ] && [ -e "$DXP_RUN/$daemon-1.stats" ] || die "not in $DXP_RUN"
kill -9 $daemon
within 20 ended $daemon || die "$daemon does not end"
touch "$DXP_RUN/.$daemon-7.stats.new" "$DXP_RUN/other.nic"
touch -d '2 minutes ago' "$DXP_RUN/xpu9.nic" "$DXP_RUN/xpu1.nic" "$DXP_RUN/.$daemon-7.stats.new"
dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --memory 16M --engine none --first 5 \
	--state "$scratch/daemon5" >"$scratch/daemon9.log" 2>&1 &
daemon5=$!
started=$daemon5
joined() { grep -q '^xpu5: node' "$scratch/daemon9.log"; }
within 20 joined || die "xpu5 has not joined: $(cat "$scratch/daemon9.log")"
left=$(ls -A "$DXP_RUN" | grep -E "^\.?$daemon-|^xpu9" || true)
[ -z "$left" ] || die "left by a killed process: $left"
live_files=("$daemon5-1.stats" "$(process_of daemon1)-1.stats" xpu1.nic/nic xpu1.nic/vf7
	xpu5.nic/nic)
for live in "${live_files[@]}" other.nic; do
	[ -e "$DXP_RUN/$live" ] || die "$live of a live process, or of no process, is gone"
done
kill $daemon5
dxp down
say passed
