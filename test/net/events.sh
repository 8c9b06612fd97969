#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The event log: `dxp events` shows each join, kill, grant and revocation in order, also after a
# restart of the manager; --follow prints them.
#
#   dxp events --- 127.0.0.1 --- dxp-manager --grants explicit
#                           +--- dxpd: xpu1   dxpd: late
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
follower='' late='' manager=''
ours() { echo $follower $late $manager; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

log=$scratch/follow

# appears KIND SUBJECT: waits until --follow has printed this event.
appears() {
	local begin=$SECONDS
	until grep -Eq " $1 +$2 " "$log"; do
		[ $((SECONDS - begin)) -le 120 ] ||
			die "no event $1 of $2 after 120 s: $(cat "$log" "$scratch/follow.err")"
		sleep 0.1
	done
	say "ok: $1 $2 after $((SECONDS - begin)) s"
}

dxp up --xpus 1 --memory 16M --engine none --port 0 --grants explicit
dxp events --follow >"$log" 2>"$scratch/follow.err" &
follower=$!
appears started manager
appears joined xpu1
dxpd --dir "$DXP_DIR" --name late --memory 16M --engine none --verbose 2>"$scratch/late.log" &
late=$!
appears joined late
dxp grant alice late
appears granted alice
dxp revoke alice late
appears revoked alice
kill -9 $late
appears died late
expect 'event=joined subject=late' "$scratch/late.log"

say "== a refusal is logged"
printf '%064d\n' 0 >"$scratch/wrong.key"
chmod 600 "$scratch/wrong.key"
refuse 1 key dxp nodes --key "$scratch/wrong.key" --manager "$(cat "$DXP_DIR/manager")"
appears refused '127\.0\.0\.1:[0-9]*'
kill $follower
wait $follower || true

say "== order, filters, JSON"
kinds=$(dxp events | grep -v path- | awk '{print $4}' | tr '\n' ' ')
[ "$kinds" = 'started joined joined granted revoked died refused ' ] || die "kinds: $kinds"
[ "$(dxp events --kind died | wc -l)" = 1 ] || die "--kind died: $(dxp events --kind died)"
[ "$(dxp events --since 3 | sed -n '1s/^ *\([0-9]*\) .*/\1/p')" = 3 ] || die "--since 3"
[ "$(dxp events --since 1h | wc -l)" = "$(dxp events | wc -l)" ] || die "--since 1h"
dxp events --json --kind died | has '"subject": "late"' || die "--json"
refuse 2 'kind of event' dxp events --kind cats
refuse 2 'number of an event' dxp events --since yesterday
dxp down

say "== after kill -9 of the manager, with the newest 100 events kept"
# manager_start: starts a manager, and sets `manager` and `at`.
manager_start() {
	rm -f "$scratch/at"
	dxp-manager --key "$scratch/key" --new-key --state "$scratch/state" --bind 127.0.0.1:0 \
		--grants explicit --events 100 --announce "$scratch/at" \
		>"$scratch/manager.log" 2>&1 &
	manager=$!
	until [ -s "$scratch/at" ]; do
		runs $manager || die "manager: $(cat "$scratch/manager.log")"
		sleep 0.05
	done
	at=(--manager "$(cat "$scratch/at")" --key "$scratch/key")
}
manager_start
for ((i = 1; i <= 60; i++)); do
	dxp grant "host$i" xpu1 "${at[@]}" >/dev/null
	dxp revoke "host$i" xpu1 "${at[@]}" >/dev/null
done
dxp events "${at[@]}" >"$scratch/before"
[ "$(wc -l <"$scratch/before")" = 100 ] || die "$(wc -l <"$scratch/before") events are kept"
kill -9 $manager
wait $manager || true
manager_start
dxp events "${at[@]}" >"$scratch/after"
tail -n 99 "$scratch/before" | cmp - <(head -n 99 "$scratch/after") ||
	die "after the restart: $(cat "$scratch/after")"
tail -n 1 "$scratch/after" | has ' started ' || die "the last: $(tail -n 1 "$scratch/after")"
kill $manager
wait $manager || true
say passed
