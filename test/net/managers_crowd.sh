#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 200 nodes join, leave and are killed, and grants move between them, while each of three managers
# and three members of etcd fails in turn: killed, stopped, ended, cut off by a slow disk. No id has
# two nodes, no node changes its id, no confirmed grant is lost or returns, tables only grow newer,
# and at the end all nodes are alive. `long` repeats the faults in random order. Uses its own
# network namespace.
#
#   node-crowd: c-0 .. c-199 ---+          +--- dxp-manager 1 ---+--- slow-disk: etcd 1
#   dxp grant, dxp revoke ------+--- lo ---+--- dxp-manager 2 ---+--- slow-disk: etcd 2
#                                          +--- dxp-manager 3 ---+--- slow-disk: etcd 3
needs=(etcd python3 ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_managers.sh
. "$(dirname "$0")/lib_managers.sh"

readonly nodes=200 xpus=20
readonly seed=${DXP_SEED:-$RANDOM}
readonly managers=127.0.0.1:4801,127.0.0.1:4802,127.0.0.1:4803
readonly store=etcd://127.0.0.1:2379,127.0.0.1:2389,127.0.0.1:2399/lab
readonly members=e1=http://127.0.0.1:2380,e2=http://127.0.0.1:2390,e3=http://127.0.0.1:2400
readonly at=(--manager $managers --key "$scratch/key")
readonly programs=$DXP_BIN/../test

"$programs/slow-disk" /dev/null true || {
	[ $? -ne 77 ] || without 'the kernel has no seccomp user notification'
	die 'slow-disk fails'
}

etcd_start() {
	local client=$((2369 + 10 * $1)) peer=$((2370 + 10 * $1))
	echo 0 >"$scratch/delay$1"
	"$programs/slow-disk" "$scratch/delay$1" etcd --name "e$1" --data-dir "$scratch/etcd$1" \
		--listen-client-urls "http://127.0.0.1:$client" \
		--advertise-client-urls "http://127.0.0.1:$client" \
		--listen-peer-urls "http://127.0.0.1:$peer" \
		--initial-advertise-peer-urls "http://127.0.0.1:$peer" \
		--initial-cluster "$members" >>"$scratch/etcd$1.log" 2>&1 &
	echo $! >"$scratch/etcd$1.pid"
}

manager_start() {
	dxp-manager -v --key "$scratch/key" --new-key --state "$scratch/state$1" \
		--store $store --bind "127.0.0.1:480$1" --admit key --grants explicit \
		>>"$scratch/manager$1.log" 2>&1 &
	echo $! >"$scratch/manager$1.pid"
}

value() { value_of "/dxp/lab/$1" http://127.0.0.1:23{7,8,9}9; }
active() { value active | sed -n 's/127.0.0.1:480//p'; }
other_active() { local now; now=$(active) && [ -n "$now" ] && [ "$now" != "$1" ]; }
answers() { of_fabric dxp grants; }
# delayed N: succeeds if member N has logged a slow fsync since the line $slow_from.
delayed() {
	tail -n "+$slow_from" "$scratch/etcd$1.log" | has -e 'slow fdatasync' -e 'sync duration of'
}

# grant_change COMMAND FILE N: runs `dxp COMMAND` for the Nth pair of a host and an xPU, and records
# the pair in FILE. If the command fails, its outcome is open.
grant_change() {
	local host=c-$((xpus + $3 % (nodes - xpus))) xpu=c-$(($3 / (nodes - xpus) % xpus))
	if of_fabric timeout 30 dxp "$1" $host $xpu >/dev/null 2>&1; then
		echo "$host/$xpu" >>"$scratch/$2"
	else
		echo "$host/$xpu" >>"$scratch/open"
	fi
}

# Background: grants move from host to host; 20 exist at a time.
move_grants() {
	local i=0
	while [ ! -e "$scratch/stop" ]; do
		grant_change grant granted $i
		[ $i -lt 20 ] || grant_change revoke revoked $((i - 20))
		i=$((i + 1))
	done
}

crowd_runs() {
	runs "$(process crowd)" || die "seed $seed: $(tail -n 3 "$scratch/crowd.log")"
}

# fault NAME: one fault and its repair; afterwards the fabric answers.
fault() {
	local now n=$((RANDOM % 3 + 1))
	say "-- $1"
	now=$(active)
	case $1 in
	'manager killed')
		end KILL "manager$now"
		wait_for "no other manager is active" other_active "$now"
		manager_start "$now"
		;;
	'manager stopped')
		kill -STOP "$(process "manager$now")"
		wait_for "no other manager is active" other_active "$now"
		kill -CONT "$(process "manager$now")"
		;;
	'manager ended')
		end TERM "manager$now"
		wait_for "no other manager is active" other_active "$now"
		manager_start "$now"
		;;
	'standing-by manager killed')
		n=$((now % 3 + 1))
		end KILL "manager$n"
		manager_start "$n"
		;;
	'etcd killed')
		end KILL "etcd$n"
		wait_for "the fabric does not answer" answers
		etcd_start "$n"
		;;
	'etcd stalls')
		for _ in 1 2 3; do
			kill -STOP "$(process "etcd$n")"
			sleep 0.6
			kill -CONT "$(process "etcd$n")"
			sleep 0.2
		done
		;;
	'slow disk of one')
		slow_from=$(($(wc -l <"$scratch/etcd$n.log") + 1))
		echo 1200 >"$scratch/delay$n"
		wait_for "the disk of etcd $n is not slow" delayed "$n"
		wait_for "the fabric does not answer with one slow disk" answers
		echo 0 >"$scratch/delay$n"
		;;
	'slow disk of all')
		slow_from=$(($(wc -l <"$scratch/etcd$n.log") + 1))
		for n in 1 2 3; do echo 1200 >"$scratch/delay$n"; done
		wait_for "the disk of etcd $n is not slow" delayed "$n"
		for n in 1 2 3; do echo 0 >"$scratch/delay$n"; done
		;;
	esac
	wait_for "the fabric does not answer" answers
	wait_for "etcd does not answer" value active
	crowd_runs
}

say "== three members of etcd, three managers, $nodes nodes; seed $seed"
RANDOM=$seed
for i in 1 2 3; do etcd_start $i; done
wait_for "etcd does not answer" value active
manager_start 1
wait_for "manager 1 is not active" logged 'this manager is active now' "$scratch/manager1.log"
manager_start 2
manager_start 3
: >"$scratch/open"
"$programs/node-crowd" "$scratch/key" $managers $nodes $xpus "$seed" "$scratch" \
	>"$scratch/crowd.log" 2>&1 &
echo $! >"$scratch/crowd.pid"
move_grants &
echo $! >"$scratch/move.pid"
wait_for "no grant is confirmed" test -s "$scratch/granted"

say "== faults"
readonly faults=('manager killed' 'etcd killed' 'slow disk of one' 'manager stopped' 'etcd stalls'
	'standing-by manager killed' 'slow disk of all' 'manager ended')
for name in "${faults[@]}"; do fault "$name"; done
if [ "${1-}" = long ]; then
	for _ in {1..40}; do fault "${faults[RANDOM % ${#faults[@]}]}"; done
fi

say "== all nodes join"
touch "$scratch/stop"
wait "$(process move)" || die 'the moves of grants ended early'
joined() { crowd_runs && test -e "$scratch/ids"; }
wait_for "not all nodes join" joined
wait_for "the fabric does not answer" answers
wait_for "etcd does not answer" value version
all_alive() {
	of_fabric dxp nodes --json >"$scratch/nodes" &&
		[ "$(grep -o '"state": "alive"' "$scratch/nodes" | wc -l)" -ge $nodes ]
}
wait_for "not all nodes are alive" all_alive
of_fabric dxp grants --json >"$scratch/grants"
crowd_runs
python3 - "$scratch" <<'PYTHON'
import json, os, sys
folder = sys.argv[1]
def lines(name):
    path = folder + "/" + name
    return set(open(path).read().splitlines()) if os.path.exists(path) else set()
nodes = json.load(open(folder + "/nodes"))
ids = dict(line.split() for line in lines("ids"))
alive = {n["name"]: str(n["id"]) for n in nodes if n["state"] == "alive"}
assert len({n["id"] for n in nodes}) == len(nodes), "an id has two rows"
for name, number in ids.items():
    assert alive.get(name) == number, (name, number, alive.get(name))
granted, open_, revoked = lines("granted"), lines("open"), lines("revoked")
found = {g["host"] + "/" + g["xpu"] for g in json.load(open(folder + "/grants"))["grants"]}
lost = granted - revoked - open_ - found
assert not lost, "lost grants: %s" % lost
back = (revoked - open_) & found
assert not back, "revoked grants are back: %s" % back
new = found - granted - open_
assert not new, "grants that nobody made: %s" % new
print("%d nodes, %d grants, %d revoked, %d open" %
      (len(ids), len(granted), len(revoked), len(open_)))
PYTHON
end TERM crowd
say "$(cat "$scratch/crowd.log")"
say passed
