#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Several managers with their registry in etcd. The active manager is killed, stopped and ended,
# members of etcd are killed, while hosts and grants change. No id has two names, no confirmed
# grant is lost or returns, transaction numbers only grow, traffic never stops, and the event log
# has each takeover. Uses its own network namespace.
#
#   dxp ping (steady) ---+          +--- dxp-manager 1 ---+--- etcd 1
#   dxp nodes, dxp grant +--- lo ---+--- dxp-manager 2 ---+--- etcd 2
#   dxpd: xpu1 .. xpu3 --+          +--- dxp-manager 3 ---+--- etcd 3
needs=(etcd python3 ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_managers.sh
. "$(dirname "$0")/lib_managers.sh"

readonly managers=127.0.0.1:4801,127.0.0.1:4802,127.0.0.1:4803
readonly store=etcd://127.0.0.1:2379,127.0.0.1:2389,127.0.0.1:2399/lab
readonly members=e1=http://127.0.0.1:2380,e2=http://127.0.0.1:2390,e3=http://127.0.0.1:2400

# etcd_start N: starts member N again, or for the first time.
etcd_start() {
	local client=$((2369 + 10 * $1)) peer=$((2370 + 10 * $1))
	etcd --name "e$1" --data-dir "$scratch/etcd$1" \
		--listen-client-urls "http://127.0.0.1:$client" \
		--advertise-client-urls "http://127.0.0.1:$client" \
		--listen-peer-urls "http://127.0.0.1:$peer" \
		--initial-advertise-peer-urls "http://127.0.0.1:$peer" \
		--initial-cluster "$members" \
		>>"$scratch/etcd$1.log" 2>&1 &
	echo $! >"$scratch/etcd$1.pid"
}

manager_start() {
	dxp-manager -v --key "$scratch/key" --new-key --state "$scratch/state$1" \
		--store $store --bind "127.0.0.1:480$1" --admit key --grants explicit \
		>>"$scratch/manager$1.log" 2>&1 &
	echo $! >"$scratch/manager$1.pid"
}

# value KEY: prints it from any etcd member; fails if none answers.
value() { value_of "/dxp/lab/$1" http://127.0.0.1:23{7,8,9}9; }

readonly at=(--manager $managers --key "$scratch/key")
nodes() { of_fabric dxp nodes --json; }

# active: prints the number of the active manager.
active() { value active | sed -n 's/127.0.0.1:480//p'; }
other_active() { local now; now=$(active) && [ -n "$now" ] && [ "$now" != "$1" ]; }

# taken_over FROM: waits for another active manager that answers.
takeovers=0
taken_over() {
	local begin middle end
	takeovers=$((takeovers + 1))
	begin=$(date +%s%N)
	wait_for "no other manager is active" other_active "$1"
	middle=$(date +%s%N)
	wait_for "the fabric does not answer" of_fabric dxp grants
	end=$(date +%s%N)
	say "manager $(active) follows $1 after $(((middle - begin) / 1000000)) ms," \
		"and answers after $(((end - begin) / 1000000)) ms"
}

# counted N: waits until the counters are those of manager N, which is active. Just after a
# takeover, another manager may answer.
counters_of() {
	of_fabric dxp metrics --fabric >"$scratch/metrics" &&
		grep -qF "dxp_service_up{service=\"manager\",address=\"127.0.0.1:480$1\"} 1" \
			"$scratch/metrics"
}
counted() {
	wait_for "no counters of manager $1" counters_of "$1"
}

# Background: collects tables in the file `seen`.
look() {
	while [ ! -e "$scratch/stop" ]; do
		nodes >>"$scratch/seen" 2>/dev/null || true
	done
}

# Background: the number of the last transaction, over and over.
watch_version() {
	while [ ! -e "$scratch/stop" ]; do
		value version >>"$scratch/versions" || true
		sleep 0.1
	done
}

say "== three members of etcd, three managers"
for i in 1 2 3; do etcd_start $i; done
wait_for "etcd does not answer" value active
manager_start 1
wait_for "manager 1 is not active" logged 'this manager is active now' "$scratch/manager1.log"
manager_start 2
manager_start 3
for i in 2 3; do
	wait_for "manager $i does not stand by" logged 'standing by' "$scratch/manager$i.log"
done
refuse 1 'stands by for another one; name all managers' \
	dxp nodes --manager 127.0.0.1:4802 --key "$scratch/key"
dxpd --engine none --memory 1M --slots 3 --state "$scratch/xpus" --functions 0 -v "${at[@]}" \
	>"$scratch/dxpd.log" 2>&1 &
echo $! >"$scratch/dxpd.pid"
wait_for "the xPUs do not join" logged 'xpu3: node' "$scratch/dxpd.log"
of_fabric dxp grant steady xpu1
of_fabric dxp grant '*' xpu2
dxp ping xpu1 --name steady --count 10000000 --interval 2 --size 65536 "${at[@]}" \
	>"$scratch/steady" 2>&1 &
echo $! >"$scratch/steady.pid"
dxp events --follow "${at[@]}" >"$scratch/follow" 2>"$scratch/follow.err" &
echo $! >"$scratch/follow.pid"
: >"$scratch/open"
for work in join_and_leave look grant_and_revoke watch_version; do
	$work &
	echo $! >"$scratch/$work.pid"
done
wait_for "no grant is confirmed" test -s "$scratch/granted"
wait_for "no table is seen" test -s "$scratch/seen"

say "== the active manager is killed, at several moments"
for moment in 0 0.013 0.05 0.2; do
	now=$(active)
	sleep $moment
	end KILL "manager$now"
	taken_over "$now"
	counted "$(active)"
	manager_start "$now"
done

say "== a member of etcd is killed"
for member in 1 2; do
	end KILL etcd$member
	wait_for "the fabric does not answer" of_fabric dxp grants
	etcd_start $member
	wait_for "etcd does not answer" value active
done

say "== the active manager is stopped, and continues after another one has taken over"
now=$(active)
kill -STOP "$(process "manager$now")"
taken_over "$now"
kill -CONT "$(process "manager$now")"
wait_for "manager $now does not stand by" logged 'stands by now' "$scratch/manager$now.log"

say "== the active manager is ended: it gives up its lease"
now=$(active)
end TERM "manager$now"
taken_over "$now"
manager_start "$now"

say "== results"
runs "$(process steady)" || die "the traffic stopped: $(tail -n 2 "$scratch/steady")"
followed() { [ "$(grep -c ' started ' "$scratch/follow")" -gt $takeovers ]; }
wait_for "dxp events --follow lacks a takeover of $takeovers" followed
[ "$(of_fabric dxp events --kind started | wc -l)" -eq $((takeovers + 1)) ] ||
	die "$takeovers takeovers: $(of_fabric dxp events --kind started)"
of_fabric dxp events --kind granted | has ' steady ' || die "the first grant is not in the log"
end TERM follow
touch "$scratch/stop"
for work in join_and_leave look grant_and_revoke watch_version; do
	wait "$(process $work)" || die "$work ended early"
done
wait_for "the fabric does not answer" of_fabric dxp grants
nodes >>"$scratch/seen"
grants_check steady '*'
python3 - "$scratch" <<'PYTHON'
import json, sys
folder = sys.argv[1]
text, at, ids, tables = open(folder + "/seen").read(), 0, {}, 0
decoder = json.JSONDecoder()
while at < len(text):
    table, at = decoder.raw_decode(text, at)
    at = len(text) - len(text[at:].lstrip())
    tables += 1
    for node in table:
        assert ids.setdefault(node["id"], node["name"]) == node["name"], (node, ids[node["id"]])
versions = [int(v) for v in open(folder + "/versions").read().split()]
assert versions == sorted(versions), "versions shrink"
print("%d tables, %d ids, %d transactions" % (tables, len(ids), versions[-1]))
PYTHON
names=$(nodes | tr -d ' \n' | grep -o '"name":"xpu[123]"[^}]*' | grep -c alive || true)
[ "$names" -eq 3 ] || die "not all xPUs are alive: $(nodes)"
end TERM dxpd

say "== a second fabric in the same etcd, with tokens: an operator, a grant after a takeover"
for i in 4 5; do
	dxp-manager -v --key "$scratch/key2" --new-key --state "$scratch/state$i" \
		--store "${store%lab}two" --bind "127.0.0.1:480$i" --admit token \
		>>"$scratch/manager$i.log" 2>&1 &
	echo $! >"$scratch/manager$i.pid"
	wait_for "manager $i does not listen" logged 'listening on' "$scratch/manager$i.log"
done
dxp join 127.0.0.1:4805,127.0.0.1:4804 "$(cat "$scratch/state4/operator.token")" --name boss
end KILL manager4
wait_for "manager 5 makes no grant" dxp grant boss xpu1
dxp grants | has boss || die "the grant is not there: $(dxp grants)"
[ "$(dxp grants --json | grep -c '"host"')" -eq 1 ] || die "grants of the other fabric are here"
dxp token list | has boss || die "the token is not there: $(dxp token list)"
rm -r "$DXP_DIR"
say passed
