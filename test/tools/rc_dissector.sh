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

# What table() prints of each packet, one column each. A packet without InfiniBand has no opcode.
readonly COLUMNS='_ws.malformed bth.opcode bth.destqp bth.psn aeth.syndrome.opcode
aeth.syndrome.credit_count aeth.msn cm.req.localqpn cm.req.startpsn cm.req.transpsvctype
cm.req.pppmtu cm.req.prim_localacktout cm.req.retrcount cm.req.rnrretrcount cm.rep.localqpn
cm.rep.startpsn'

# table CAPTURE: one run of tshark, which takes most of this test's time; writes CAPTURE.table.
table() {
	local arguments=() name
	for name in $COLUMNS; do
		[ "${name#_ws}" != "$name" ] || name=infiniband.$name
		arguments+=(-e "$name")
	done
	tshark -r "$work/$1.pcap" -T fields -E separator='|' "${arguments[@]}" \
		>"$work/$1.table" 2>"$work/errors"
}

# fields CAPTURE CONDITION COLUMN...: prints columns of matching packets, one packet a line. The
# condition is awk's; v(COLUMN) is a value.
fields() {
	local capture=$1 condition=$2
	shift 2
	awk -F '|' -v columns="${COLUMNS//$'\n'/ }" -v wanted="$*" "
		function v(name) { return \$at[name] }
		BEGIN {
			count = split(columns, c, \" \")
			for (i = 1; i <= count; i++)
				at[c[i]] = i
			count = split(wanted, want, \" \")
		}
		$condition {
			for (i = 1; i <= count; i++)
				printf \"%s%s\", v(want[i]), i < count ? \" \" : \"\n\"
		}" "$work/$capture.table"
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
	table "$name" || failed "$name: $(cat "$work/errors")"
	[ "$(fields "$name" 'v("bth.opcode") != ""' bth.opcode | wc -l)" -gt 0 ] ||
		failed "$name: no packet"
	expect "$name: malformed" '' \
		"$(fields "$name" 'v("_ws.malformed") != "" || v("bth.opcode") == ""' \
			bth.opcode bth.psn)"
	expect "$name: opcodes" '' \
		"$(fields "$name" 'v("bth.opcode") !~ /^(4|17|100)$/' bth.opcode)"
done
for family in ipv4 ipv6; do
	plain=plain-$family
	expect "$plain: REQ" '0x445850 0xfffff8 0x00 0x01 0x10 0x07 0x07' "$(fields "$plain" \
		'v("cm.req.localqpn") != ""' cm.req.localqpn cm.req.startpsn cm.req.transpsvctype \
		cm.req.pppmtu cm.req.prim_localacktout cm.req.retrcount cm.req.rnrretrcount)"
	expect "$plain: REP" '0x000011 0x000005' \
		"$(fields "$plain" 'v("cm.rep.localqpn") != ""' cm.rep.localqpn cm.rep.startpsn)"
	requests='v("bth.opcode") == 4 && v("bth.destqp") =='
	expect "$plain: PSNs of the active side" "$(psns 0xfffff8)" \
		"$(fields "$plain" "$requests \"0x000011\"" bth.psn)"
	expect "$plain: PSNs of the passive side" "$(psns 5)" \
		"$(fields "$plain" "$requests \"0x445850\"" bth.psn)"
	# 50 messages from PSN 0xfffff8, so the last is 41
	expect "$plain: last ACK" '41 31 50' "$(fields "$plain" \
		'v("aeth.msn") != "" && v("bth.destqp") == "0x445850"' bth.psn \
		aeth.syndrome.credit_count aeth.msn | tail -n 1)"
	for opcode in 0 1 3; do
		[ "$(fields "faults-$family" "v(\"aeth.syndrome.opcode\") == \"$opcode\"" \
			bth.psn | wc -l)" -gt 0 ] || failed "faults-$family: no AETH kind $opcode"
	done
done
[ $failures -eq 0 ]
