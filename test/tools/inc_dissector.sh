#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/inc.lua on test/golden/inc.pcapng, which holds a packet of each kind. The output of
# tshark must equal inc.txt, for the RoCEv2 fields of Wireshark and for our fields. Also writes the
# capture again; it must be unchanged. A second implementation verifies the ICRCs of the packets.
#
#   test/tools/inc_dissector.sh [accept]   accept: stores the output as the expected one; read it
#                                          then
set -euo pipefail

source=${DXP_SOURCE:?set by ctest}
golden=$source/test/golden
work=$(mktemp --directory --tmpdir dxp-inc-dissector.XXXXXX)
readonly source golden work
trap 'rm -rf "$work"' EXIT
failures=0

# Wireshark's own fields. "Unknown" bytes and column texts differ between releases, so they are left
# out.
readonly ROCE='bth.opcode bth.padcnt bth.tver bth.p_key bth.destqp bth.a bth.psn
deth.q_key deth.srcqp aeth.syndrome aeth.msn'

failed() {
	failures=$((failures + 1))
	printf 'FAILED: %s\n' "$1"
}

# Prints every declared field in order, sorted by protocol, because tshark's order of the two is
# undefined.
our_fields() {
	tshark -G fields -X "lua_script:$source/tools/inc.lua" 2>/dev/null |
		awk -F '\t' '$1 == "F" && $3 ~ /^inc(_icrc)?\./ { print $3 }' |
		LC_ALL=C sort --stable --field-separator=. --key=1,1
}

# Prints the fields of each frame, one per line.
dissect() {
	local names arguments=() name
	names="frame.number $(printf 'infiniband.%s ' $ROCE) $(our_fields) _ws.expert.message"
	for name in $names; do
		arguments+=(-e "$name")
	done
	tshark -X "lua_script:$source/tools/inc.lua" -r "$1" -T fields -E separator='|' \
		-E occurrence=a "${arguments[@]}" 2>"$work/errors" |
		awk -F '|' -v names="$(echo $names)" '
			{ split(names, name, " "); for (i = 1; i <= NF; i++) if ($i != "")
				print (i > 1 ? "  " : "") name[i] " " $i }'
	if grep -qi lua "$work/errors"; then
		cat "$work/errors"
		failed "$1: the dissector reports an error"
	fi
}

icrc_check() {
	if ! command -v python3 >/dev/null; then
		echo 'skipped: ICRCs: python3 is not installed; install: tools/setup check'
		return
	fi
	python3 "$source/test/tools/icrc.py" "$golden/inc.pcapng" >"$work/icrc"
	# The last packet is corrupted on purpose.
	[ "$(grep -c bad "$work/icrc")" = 1 ] && [[ $(tail -n 1 "$work/icrc") == *bad* ]] ||
		failed "ICRCs: $(grep bad "$work/icrc" | tr '\n' ' ')"
}

"${DXP_BIN:?set by ctest}/../test/golden-captures" "$work"
[ "${1:-}" != accept ] || cp "$work/inc.pcapng" "$golden/inc.pcapng"
cmp "$work/inc.pcapng" "$golden/inc.pcapng" ||
	failed 'inc.pcapng: the encoders write other bytes than committed'
icrc_check
if ! command -v tshark >/dev/null; then
	[ $failures -eq 0 ] || exit 1
	echo 'skipped: tshark is not installed; install: tools/setup check'
	exit 77
fi
dissect "$golden/inc.pcapng" >"$work/inc.txt"
[ "${1:-}" != accept ] || cp "$work/inc.txt" "$golden/inc.txt"
diff -u "$golden/inc.txt" "$work/inc.txt" || failed 'inc.pcapng: the output of tshark differs'
[ $failures -eq 0 ]
