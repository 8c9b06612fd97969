#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Protection against an attacker on the wire: which bytes it can read; its replays and changed
# packets have no effect.
#
#   near: dxp-manager, dxp, attacker --- [10.79.0.1] v0 ==== v1 [10.79.0.2] --- far: dxpd: xpu1
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

without() {
	say "skipped: $*"
	exit 77
}
unset DXP_PROTECT
here=$(cd "$(dirname "$0")" && pwd)
namespaces_make dxps 10.79.0 ip ethtool python3
# segmented before v0, so the attacker sees single packets
near ethtool -K v0 tx-udp-segmentation off >/dev/null
far ethtool -K v1 tx-udp-segmentation off >/dev/null

readonly at=(--manager 10.79.0.1 --key "$scratch/key") secret=the-secret-payload-of-this-test
for _ in {1..4000}; do echo "$secret"; done >"$scratch/sent"
bytes=$(stat -c %s "$scratch/sent")

stop() {
	kill "$1" && wait "$1" || true
	parts=${parts/$1 /}
}

# exchange ATTACK OPTION...: uses the xPU's memory while the attacker reads packets. Sets variables
# to the attacker's counts.
exchange() {
	local attack=$1
	shift
	# shellcheck disable=SC2086 # $attack is empty or one word
	part "$near" attacker.log watching python3 "$here/attacker.py" v0 "$secret" $attack
	near dxp put "${at[@]}" "$@" xpu1 0 "$scratch/sent" >"$scratch/put" 2>&1 ||
		die "put: $(cat "$scratch/put")"
	near dxp get "${at[@]}" "$@" xpu1 0 "$bytes" "$scratch/back" >/dev/null
	stop "$last"
	cmp "$scratch/sent" "$scratch/back" || die 'other bytes came back'
	grep -q '^frames' "$scratch/attacker.log" || die "attacker: $(cat "$scratch/attacker.log")"
	read -r _ frames _ sealed _ clear _ payload _ injected \
		< <(grep '^frames' "$scratch/attacker.log")
	say "the attacker: $(grep '^frames' "$scratch/attacker.log")"
	[ "$frames" -gt 0 ] || die 'the attacker saw nothing'
}

daemon() {
	part "$far" daemon.log xpu1 dxpd "${at[@]}" --engine none --memory 16M \
		--state "$scratch/daemon" "$@"
	daemon=$last
}

# counter NAME: prints a daemon's counter; waits until it is above 0, because nodes publish at
# intervals.
counter() {
	local value=0
	for _ in {1..100}; do
		value=$(near dxp nodes "${at[@]}" --wide --json | python3 -c "import json, sys
rows = [n for n in json.load(sys.stdin) if n['name'] == 'xpu1']
print(rows[0]['counters']['counters']['$1'] if rows and rows[0].get('counters') else 0)")
		[ "$value" -eq 0 ] || break
		sleep 0.1
	done
	echo "$value"
}

part "$near" manager.log 'listening on' dxp-manager --key "$scratch/key" --new-key \
	--state "$scratch/state" --bind 10.79.0.1 --admit key --grants any

say '== between machines the default is encryption'
daemon
exchange ''
[ "$sealed" -gt 0 ] && [ "$clear" -eq 0 ] && [ "$payload" -eq 0 ] || die 'it could read packets'
near dxp nodes "${at[@]}" | has 'xpu1.*encrypt' || die 'dxp nodes does not show it'
near dxp doctor "${at[@]}" --to xpu1 >"$scratch/doctor" || true
expect 'encrypt: AES-128-GCM' "$scratch/doctor"

say '== replayed and changed packets are counted and change nothing'
exchange --inject
[ "$injected" -gt 0 ] || die 'nothing was injected'
wrong=$(counter seal_wrong) replayed=$(counter seal_replayed)
say "of $injected packets $wrong had a wrong tag, $replayed were replays"
[ "$wrong" -gt 0 ] && [ "$replayed" -gt 0 ] || die 'the daemon did not notice'

say '== a peer with another protection is refused, with the reason'
! near dxp put "${at[@]}" --protect none xpu1 0 "$scratch/sent" >"$scratch/refused" 2>&1 ||
	die 'it was accepted'
expect "protects packets by 'encrypt', this one by 'none'" "$scratch/refused"
expect 'requires another --protect' "$scratch/refused"
grep -q "protects packets by 'none', this one by 'encrypt'" "$scratch/daemon.log" ||
	die "no reason in: $(cat "$scratch/daemon.log")"
[ "$(counter other_protection)" -gt 0 ] || die 'it is not counted'
! near dxp put "${at[@]}" --protect some xpu1 0 "$scratch/sent" 2>"$scratch/refused" ||
	die 'a wrong option was accepted'
expect 'auto, none, integrity or encrypt' "$scratch/refused"

say '== integrity: readable, but not changed'
stop "$daemon"
daemon --protect integrity
exchange --inject --protect integrity
[ "$sealed" -gt 0 ] && [ "$clear" -eq 0 ] && [ "$payload" -gt 0 ] || die 'not as promised'
wrong=$(DXP_PROTECT=integrity counter seal_wrong)
[ "$wrong" -gt 0 ] || die 'the daemon did not notice changed packets'

say '== none: readable'
stop "$daemon"
daemon --protect none
exchange '' --protect none
[ "$sealed" -eq 0 ] && [ "$clear" -gt 0 ] && [ "$payload" -gt 0 ] || die 'not as promised'
near dxp doctor "${at[@]}" --protect none --to xpu1 >"$scratch/doctor" || true
expect 'anybody on the path can read and change the packets' "$scratch/doctor"
expect 'none in sent packets: the path has no wire' "$scratch/doctor"

say '== the payload has a checksum if the path has a wire, or on request'
checks() {
	near env "$1" dxp doctor "${at[@]}" --protect none "${@:2}" --to xpu1 \
		>"$scratch/doctor" || true
}
checks DXP_CC= --payload-crc always
expect 'CRC-32C of each packet' "$scratch/doctor"
checks DXP_FAULT=loss=0.1%,seed=3
expect 'CRC-32C of each packet' "$scratch/doctor"
! near dxp put "${at[@]}" --payload-crc some xpu1 0 "$scratch/sent" 2>"$scratch/refused" ||
	die 'a wrong option was accepted'
expect 'auto, always or never' "$scratch/refused"
near dxp nodes "${at[@]}" --protect none --json | has '"payload_check": "none"' ||
	die 'dxp nodes --json does not show the check'
say passed
