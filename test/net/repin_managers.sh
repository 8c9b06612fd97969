#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manager's key pair is rotated while two managers have their registry in etcd: the other one
# takes over with both keys, and nodes that were away learn the new one from it.
#
#   dxpd: xb, dxp (operator) --- lo ---+--- dxp-manager 1 ---+--- etcd
#                                      +--- dxp-manager 2 ---+
needs=(etcd python3 ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_managers.sh
. "$(dirname "$0")/lib_managers.sh"
readonly managers=127.0.0.1:4801,127.0.0.1:4802 B=$scratch/fabric-b
value() { value_of "/dxp/lab/$1" http://127.0.0.1:2379; }
is_active() { [ "$(value active)" = "127.0.0.1:480$1" ]; }
pinned_alike() { cmp -s "$B/manager.pub" "$DXP_DIR/manager.pub"; }

manager_start() {
	mkdir -p "$scratch/state$1"
	dxp-manager -v --key "$scratch/key" --new-key --state "$scratch/state$1" \
		--store etcd://127.0.0.1:2379/lab --bind "127.0.0.1:480$1" --admit token \
		>>"$scratch/manager$1.log" 2>&1 &
	echo $! >"$scratch/manager$1.pid"
}

daemon_start() {
	: >"$scratch/dxpd.log"
	env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 --functions 0 -v \
		>"$scratch/dxpd.log" 2>&1 &
	echo $! >"$scratch/dxpd.pid"
	wait_for 'xb does not join' logged 'xb: node' "$scratch/dxpd.log"
}

say '== two managers, one operator, one xPU'
etcd --data-dir "$scratch/etcd" >"$scratch/etcd.log" 2>&1 &
echo $! >"$scratch/etcd.pid"
wait_for 'etcd does not answer' value active
manager_start 1
wait_for 'manager 1 is not active' logged 'this manager is active now' "$scratch/manager1.log"
manager_start 2
wait_for 'manager 2 does not stand by' logged 'standing by' "$scratch/manager2.log"
token=$(<"$scratch/state1/operator.token")
wait_for 'the operator does not join' dxp join $managers "$token" --name admin
wait_for 'no token' dxp token create --role xpu
token=$(<"$scratch/wait")
wait_for 'b does not join' dxp join $managers "$token" --name b --dir "$B"
daemon_start
wait_for 'no grant' dxp grant admin xb
wait_for 'no ping' dxp ping xb --count 3

cp "$B/manager.pub" "$scratch/former"

say '== rotated, and taken over by the other manager'
rotated_once() { dxp keys show | has 'generation 1'; }
rotated() { rotated_once || dxp keys rotate --manager-key; }
wait_for 'no rotation' rotated
wait_for 'xb does not learn the key' pinned_alike
[ "$(value manager/key | wc -l)" = 1 ] || die 'etcd does not have the key pair'
end TERM dxpd
end KILL manager1
wait_for 'manager 2 does not take over' is_active 2
wait_for 'the operator is refused' dxp nodes
wait_for 'the key pair is lost' rotated_once

say '== a daemon that starts with the former key learns the new one from manager 2'
named() { dxp token create | has -F "$(cat "$DXP_DIR/manager.pub")"; }
wait_for 'a new token names another key' named
cp "$scratch/former" "$B/manager.pub"
daemon_start
wait_for 'xb does not learn the key' pinned_alike
wait_for 'no ping' dxp ping xb --count 3

say '== manager 1 comes back, and takes over again'
manager_start 1
wait_for 'manager 1 does not stand by' logged 'standing by' "$scratch/manager1.log"
end KILL manager2
wait_for 'manager 1 does not take over' is_active 1
wait_for 'the operator is refused' dxp nodes
wait_for 'no ping' dxp ping xb --count 3
end TERM dxpd
say passed
