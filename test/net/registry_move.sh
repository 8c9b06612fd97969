#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Moves the registry of a fabric with tokens from SQLite to etcd and back, while its nodes run: ids,
# keys, tokens, grants and events stay. Uses its own network namespace.
#
#   operator, dxp ping ---+--- lo --- dxp-manager: manager.db, then etcd, then manager.db
#   dxpd: x1 x2 ----------+
needs=(etcd ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
ours() { cat "$scratch"/*.pid 2>/dev/null; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

readonly store=etcd://127.0.0.1:2379/lab address=127.0.0.1:4795 key=$DXP_DIR/fabric.key
readonly patience=120 # s

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
	local what=$1 begin=$SECONDS
	shift
	until "$@" >"$scratch/wait" 2>&1; do
		[ $((SECONDS - begin)) -lt $patience ] || die "$what: $(cat "$scratch/wait")"
		sleep 0.05
	done
}

# manager_start OPTION...: starts a manager with this store.
manager_start() {
	dxp-manager -v --key "$key" --bind $address --admit token --grants explicit "$@" \
		>>"$scratch/manager.log" 2>&1 &
	echo $! >"$scratch/manager.pid"
	wait_for "the manager does not answer" dxp grants --manager $address
}

manager_stop() {
	local id
	id=$(cat "$scratch/manager.pid")
	kill "$id"
	wait "$id" || die "the manager: $(tail -n 3 "$scratch/manager.log")"
	rm "$scratch/manager.pid"
}

# all_alive: succeeds if both xPUs are in the table, and alive.
all_alive() {
	[ "$(dxp nodes --manager $address | grep -c ' x[12] .*alive')" -eq 2 ]
}

# seen: prints all that must stay.
seen() {
	wait_for "the xPUs do not return" all_alive
	dxp nodes --manager $address --json |
		python3 -c 'import json, sys
for n in json.load(sys.stdin): print(n["id"], n["name"])'
	dxp grants --manager $address
	dxp token list --manager $address | sed 's/  *[0-9hms]* *$//; s/[0-9]*[hms]//g'
	dxp events --manager $address --kind granted | awk '{print $1, $5, $8}'
}

command -v python3 >/dev/null || without 'python3 is not installed'
say "== a fabric with tokens, in SQLite"
dxp manager init --bind 127.0.0.1 --port 4795 --name admin >"$scratch/init"
token=$(sed -n 's/^ *dxp join [^ ]* //p' "$scratch/init")
env DXP_DIR="$scratch/x" dxp join $address "$token" --name machine
dxp token create >"$scratch/token"
refuse 3 'another manager uses' dxp manager export "$scratch/file"
dxp down
rm -f "$scratch/manager.pid"
manager_start --state "$DXP_DIR/registry"
env DXP_DIR="$scratch/x" dxpd --slots 2 --engine none --memory 1M --name x --port 0 \
	--state "$scratch/xpus" >"$scratch/dxpd.log" 2>&1 &
echo $! >"$scratch/dxpd.pid"
wait_for "the xPUs do not join" all_alive
dxp grant admin x1 --manager $address
dxp grant guest x2 --manager $address
dxp ping x1 --count 10000000 --interval 2 --manager $address >"$scratch/ping" 2>&1 &
echo $! >"$scratch/ping.pid"
seen >"$scratch/before"
manager_stop

say "== to etcd"
etcd --data-dir "$scratch/etcd" >"$scratch/etcd.log" 2>&1 &
echo $! >"$scratch/etcd.pid"
wait_for "etcd does not answer" grep -q 'ready to serve client requests' "$scratch/etcd.log"
refuse 1 'does not exist; correct --store' dxp manager export "$scratch/file" --store $store
refuse 1 'no registry in' dxp manager export "$scratch/file" --state "$scratch/nothing"
dxp manager export "$scratch/file" >"$scratch/out"
expect '2 keys, 3 tokens, 2 grants' "$scratch/out"
[ "$(stat -c %a "$scratch/file")" = 600 ] || die 'others can read the file'
refuse 5 'exists; name another file' dxp manager export "$scratch/file"
head -c 1000 "$scratch/file" >"$scratch/part"
refuse 5 'damaged; export the registry again' dxp manager import "$scratch/part" --store $store
refuse 1 'cannot read' dxp manager import "$scratch/none" --store $store
printf '%064d\n' 7 >"$scratch/other.key"
chmod 600 "$scratch/other.key"
refuse 5 'of a fabric with another key' dxp manager import "$scratch/file" --store $store \
	--key "$scratch/other.key"
refuse 2 'export FILE' dxp manager export
refuse 2 'for a manager with its registry in etcd' dxp manager init --store $store
refuse 2 'run dxp-manager' dxp manager init --key "$key" --state "$scratch/s"
refuse 2 'the others are for `dxp manager init`' dxp manager export "$scratch/f" --port 4795
mv "$DXP_DIR/registry/manager.key" "$scratch/manager.key"
refuse 1 'has no manager.key' dxp manager export "$scratch/file2"
[ ! -e "$DXP_DIR/registry/manager.key" ] || die 'an export made another key'
mv "$scratch/manager.key" "$DXP_DIR/registry/manager.key"
refuse 2 'exclude each other' dxp-manager --key "$key" --state "$scratch/s" --export a --import b
dxp manager import "$scratch/file" --store $store >"$scratch/out"
expect '2 keys, 3 tokens, 2 grants' "$scratch/out"
expect "machines need not join again: $(cat "$DXP_DIR/manager.pub")" "$scratch/out"
refuse 5 'the target is not empty' dxp manager import "$scratch/file" --store $store
refuse 5 'the target is not empty' dxp manager import "$scratch/file"
manager_start --state "$scratch/state" --store $store
seen >"$scratch/after"
cmp "$scratch/before" "$scratch/after" || die "$(diff "$scratch/before" "$scratch/after")"

say "== while a manager is active in etcd, or stands by"
refuse 3 "the manager at $address is active" dxp manager export "$scratch/file2" --store $store
refuse 3 "the manager at $address is active" dxp manager import "$scratch/file" --store $store
dxp grant late x2 --manager $address
seen >"$scratch/before"
manager_stop

say "== and back to SQLite"
dxp manager export "$scratch/file2" --store $store >"$scratch/out"
expect '2 keys, 3 tokens, 3 grants' "$scratch/out"
dxp manager import "$scratch/file2" --state "$scratch/back" >"$scratch/out"
expect '2 keys, 3 tokens, 3 grants' "$scratch/out"
[ "$(stat -c %a "$scratch/back/manager.key")" = 600 ] || die 'others can read manager.key'
manager_start --state "$scratch/back"
seen >"$scratch/after"
cmp "$scratch/before" "$scratch/after" || die "$(diff "$scratch/before" "$scratch/after")"
runs "$(cat "$scratch/ping.pid")" || die "the traffic stopped: $(tail -n 2 "$scratch/ping")"
env DXP_DIR="$scratch/guest" dxp join $address "$(cat "$scratch/token")" --name guest
env DXP_DIR="$scratch/guest" dxp ping x2 --count 1 >/dev/null
say passed
