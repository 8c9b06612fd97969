#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# etcd is above its quota: it takes no puts, but keeps leases. A manager without changes stays
# active and keeps its events in memory; a change ends its term. When etcd has space again, the
# events are written. Uses its own network namespace.
#
#   dxp join, dxp events --- lo --- dxp-manager --- etcd with a quota of 16 MB
needs=(etcd python3 ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_managers.sh
. "$(dirname "$0")/lib_managers.sh"
readonly address=127.0.0.1:4795 log=$scratch/manager.log

manager_start() {
	dxp-manager -v --key "$scratch/key" --new-key --state "$scratch/state" --bind $address \
		--store etcd://127.0.0.1:2379 --admit token >>"$log" 2>&1 &
	echo $! >"$scratch/manager.pid"
}

# space fill|free: puts values into etcd until it takes no more, or removes them again.
space() {
	python3 - "$1" <<'PYTHON'
import base64, json, sys, urllib.error, urllib.request
def ask(path, **body):
    request = json.dumps(body).encode()
    return json.load(urllib.request.urlopen("http://127.0.0.1:2379/v3/" + path, request, 60))
def text(value):
    return base64.b64encode(value).decode()
if sys.argv[1] == "fill":
    try:
        for i in range(1000):
            ask("kv/put", key=text(b"fill/%d" % i), value=text(b"x" * 500000))
        sys.exit("etcd has no quota")
    except urllib.error.HTTPError:
        sys.exit(0)
answer = ask("kv/deleterange", key=text(b"fill/"), range_end=text(b"fill0"))
ask("kv/compaction", revision=answer["header"]["revision"], physical=True)
ask("maintenance/defragment")
alarms = ask("maintenance/alarm", action="GET").get("alarms", [])
for alarm in alarms:
    ask("maintenance/alarm", action="DEACTIVATE", alarm="NOSPACE", memberID=alarm["memberID"])
PYTHON
}

# joins TOKEN: a join with a revoked token, which is an event.
joins() {
	refuse 1 'was revoked' env DXP_DIR="$scratch/other" dxp join $address "$1" --name other
}
has_events() { [ "$(dxp events --kind refused | grep -c 'was revoked')" -eq "$1" ]; }

# starved: whether the manager lost its lease, because this machine gave it or etcd no time. Only a
# failed write must not end a term.
starved() { grep -q 'stands by now: .* lease in etcd' "$log"; }
or_starved() { "$@" || starved; }

# stays_active: the manager's term must not have ended for another reason.
stays_active() {
	! grep 'stands by now' "$log" | has -v ' lease in etcd' || die "$(tail -n 3 "$log")"
}

say "== a fabric with two revoked tokens"
etcd --data-dir "$scratch/etcd" --quota-backend-bytes 16000000 >"$scratch/etcd.log" 2>&1 &
echo $! >"$scratch/etcd.pid"
wait_for "etcd does not answer" grep -q 'ready to serve client requests' "$scratch/etcd.log"
manager_start
wait_for "the manager makes no token" test -s "$scratch/state/operator.token"
dxp join $address "$(cat "$scratch/state/operator.token")" --name boss
for i in 1 2; do
	dxp token create >"$scratch/token$i"
	dxp token revoke "$(cut -d . -f 2 "$scratch/token$i")"
done

say "== etcd is full: events wait, and the manager stays active"
space fill
joins "$(cat "$scratch/token1")"
wait_for "no write fails" or_starved logged 'cannot write the event log to etcd' "$log"
joins "$(cat "$scratch/token2")"
wait_for "the events are not in memory" or_starved has_events 2
stays_active

say "== etcd has space again: the events are written"
space free
wait_for "the events are not written" or_starved logged 'events can be written to etcd again' "$log"
stays_active
end TERM manager
manager_start
if starved; then
	left_out 'events that outlast a full etcd' 'this machine is too busy for the lease in etcd'
else
	wait_for "the events are lost" has_events 2
fi

say "== etcd is full: a change ends the term"
space fill
timeout 60 dxp grant boss x1 >"$scratch/out" 2>&1 && die 'a grant is made without etcd'
wait_for "the manager acts without etcd" logged 'etcd executes no transaction' "$log"
space free
wait_for "no grant is made" dxp grant boss x1
say passed
