#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reliable connections by tshark's dissector of InfiniBand, on the unit tests' captures: no
# malformed packet or unknown opcode, the negotiated numbers, and the chosen PSNs, syndromes and
# MSNs.
set -euo pipefail

programs=${DXP_BIN:?set by ctest}/../test
work=$(mktemp --directory --tmpdir dxp-rc-dissector.XXXXXX)
readonly programs work
trap 'rm -rf "$work"' EXIT
failures=0

failed() {
	failures=$((failures + 1))
	printf 'FAILED: %s\n' "$1"
}

# fields CAPTURE FILTER FIELD...: prints fields of matching packets, one a line.
fields() {
	local capture=$1 filter=$2 arguments=() name
	shift 2
	for name in "$@"; do
		arguments+=(-e "infiniband.$name")
	done
	tshark -r "$work/$capture.pcap" -Y "$filter" -T fields -E separator=' ' "${arguments[@]}" \
		2>"$work/errors"
}

expect() {
	[ "$2" = "$3" ] || failed "$1: expected \"$2\", tshark shows \"$3\""
}

# PSNs of a side's 50 requests are consecutive, in 24 bits.
psns() {
	local i
	for ((i = 0; i < 50; i++)); do
		echo $((($1 + i) & 0xffffff))
	done
}

DXP_RC_CAPTURES=$work "$programs/test-unit-rc_connection" >"$work/log" 2>&1 ||
	failed "test-unit-rc_connection: $(tail -n 3 "$work/log")"
DXP_RC_CAPTURES=$work "$programs/test-unit-switch_rc" >"$work/log" 2>&1 ||
	failed "test-unit-switch_rc: $(tail -n 3 "$work/log")"
if ! command -v tshark >/dev/null; then
	[ $failures -eq 0 ] || exit 1
	echo 'skipped: tshark is not installed; install: tools/setup check'
	exit 77
fi
for capture in "$work"/*.pcap; do
	name=$(basename "$capture" .pcap)
	[ "$(fields "$name" infiniband bth.opcode | wc -l)" -gt 0 ] || failed "$name: no packet"
	expect "$name: malformed" '' \
		"$(fields "$name" '_ws.malformed || !infiniband' bth.opcode bth.psn)"
	expect "$name: opcodes" '' "$(fields "$name" \
		'infiniband && !(infiniband.bth.opcode in {4, 17, 100})' bth.opcode)"
done
for family in ipv4 ipv6; do
	plain=plain-$family
	expect "$plain: REQ" '0x445850 0xfffff8 0x00 0x01 0x10 0x07 0x07' "$(fields "$plain" \
		infiniband.cm.req cm.req.localqpn cm.req.startpsn cm.req.transpsvctype \
		cm.req.pppmtu cm.req.prim_localacktout cm.req.retrcount cm.req.rnrretrcount)"
	expect "$plain: REP" '0x000011 0x000005' \
		"$(fields "$plain" infiniband.cm.rep cm.rep.localqpn cm.rep.startpsn)"
	requests='infiniband.bth.opcode == 4 && infiniband.bth.destqp'
	expect "$plain: PSNs of the active side" "$(psns 0xfffff8)" \
		"$(fields "$plain" "$requests == 0x11" bth.psn)"
	expect "$plain: PSNs of the passive side" "$(psns 5)" \
		"$(fields "$plain" "$requests == 0x445850" bth.psn)"
	# 50 messages from PSN 0xfffff8, so the last is 41
	expect "$plain: last ACK" '41 31 50' "$(fields "$plain" \
		'infiniband.aeth && infiniband.bth.destqp == 0x445850' bth.psn \
		aeth.syndrome.credit_count aeth.msn | tail -n 1)"
	for opcode in 0 1 3; do
		[ "$(fields "faults-$family" "infiniband.aeth.syndrome.opcode == $opcode" \
			bth.psn | wc -l)" -gt 0 ] || failed "faults-$family: no AETH kind $opcode"
	done
done
[ $failures -eq 0 ]
