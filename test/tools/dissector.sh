#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/rltp.lua on the captures in test/golden, which hold one frame of each type. The output
# of tshark must equal the *.txt files. Also writes the captures again; they must be unchanged.
#
#   test/tools/dissector.sh [accept]     accept: stores the output as the expected one; read it then
set -euo pipefail

source=${DXP_SOURCE:?set by ctest}
golden=$source/test/golden
work=$(mktemp --directory --tmpdir dxp-dissector.XXXXXX)
readonly source golden work
trap 'rm -rf "$work"' EXIT
failures=0

readonly SESSIONS='type flags crc.status src_node dst_node dst_session psn cum_ack ce_count
dst_function dst_qp msg_id sub addr key msg_len imm trailer payload
hello.incarnation hello.epoch hello.session hello.psn hello.rwnd hello.payload hello.features
hello.token hello.cookie
hello.echo_session hello.echo_psn hello.nap_credit hello.recovery hello.tag
hello.machine hello.machine_low
hello.protect hello.key hello.key_tag
reject.session reject.code reject.protect reject.echo reject.proof
cookie.session cookie.psn cookie.value cookie.proof
seal.counter seal.phase seal.phase_seen seal.sealed seal.tag
reset.session reset.code ping.opaque pmtu.id pmtu.bytes bye.token bye.code
ack.echo_ts ack.hold ack.rx_level ack.rwnd ack.dup_count ack.rx_count ack.received ack.missing
credit.qp credit.limit nack.code nack.psn nack.retry_us nack.called
get.length atomic.op atomic.reply_msg_id atomic.operand atomic.swap atomic.status atomic.old
cfg.register cfg.count cfg.value cfg.status'
readonly MANAGER='type crc.status src_node dst_node manage.request manage.nonce manage.run
manage.epoch manage.sequence manage.cursor manage.lease_ns manage.node manage.incarnation
manage.from manage.to manage.first manage.next manage.rows manage.version manage.action
manage.host manage.xpu manage.status manage.text row.id row.kind row.flags row.memory row.address
row.port row.name row.engine row.device row.role row.key manage.key
channel.id channel.number channel.step channel.message
stats.version stats.part stats.published stats.first stats.next stats.rows stats.xpu stats.pid
stats.started_ns stats.published_ns stats.age_ns stats.sessions stats.name stats.program
stats.address probe.number probe.pause_s stats.role stats.up_ns stats.values'

failed() {
	failures=$((failures + 1))
	printf 'FAILED: %s\n' "$1"
}

# Prints fields $2 of each frame of capture $1, one a line.
dissect() {
	local field arguments=(-e frame.number)
	for field in $2; do
		arguments+=(-e "rltp.$field")
	done
	tshark -X "lua_script:$source/tools/rltp.lua" -r "$1" -T fields -E separator='|' \
		-E occurrence=a "${arguments[@]}" -e _ws.expert.message 2>"$work/errors" |
		awk -F '|' -v names="frame $(echo "$2" | tr '\n' ' ') expert" '
			{ split(names, name, " "); for (i = 1; i <= NF; i++) if ($i != "")
				print (i > 1 ? "  " : "") name[i] " " $i }'
	if grep -qi lua "$work/errors"; then
		cat "$work/errors"
		failed "$1: the dissector reports an error"
	fi
}

captures_check() {
	local name
	"${DXP_BIN:?set by ctest}/../test/golden-captures" "$work"
	for name in sessions manager; do
		[ "${1:-}" != accept ] || cp "$work/$name.pcapng" "$golden/$name.pcapng"
		cmp "$work/$name.pcapng" "$golden/$name.pcapng" ||
			failed "$name.pcapng: the encoders write other bytes than committed"
	done
}

dissector_check() {
	dissect "$golden/$1.pcapng" "$2" >"$work/$1.txt"
	[ "${3:-}" != accept ] || cp "$work/$1.txt" "$golden/$1.txt"
	diff -u "$golden/$1.txt" "$work/$1.txt" || failed "$1: the output of tshark differs"
}

captures_check "$@"
if ! command -v tshark >/dev/null; then
	[ $failures -eq 0 ] || exit 1
	echo 'skipped: tshark is not installed; install: tools/setup check'
	exit 77
fi
dissector_check sessions "$SESSIONS" "$@"
dissector_check manager "$MANAGER" "$@"
[ $failures -eq 0 ]
