#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp bench slots`: 16 xPUs of one daemon share one uplink. Every xPU received the right bytes, no
# slot starves, and all together do not exceed the uplink's rate. Slots reach each other without a
# loopback interface.
#
#   dxpb-PID-near: dxpd slot1 .. 16 [v0] == tbf == [v1] dxpb-PID-far: dxpd xpu1 .. 16, dxp bench
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
rows=$(mktemp --tmpdir dxp-slots.XXXXXX)
readonly rows
trap 'rm -f "$rows" "$rows.said"' EXIT
die() { printf 'FAILED: %s\n' "$*"; cat "$rows" "$rows.said"; exit 1; }

[ "$(id -u)" -eq 0 ] || { echo 'needs root for network namespaces'; exit 77; }
for program in ip ethtool tc; do
	command -v $program >/dev/null || { echo "needs the program $program"; exit 77; }
done
ip netns add "dxpb-probe-$$" 2>/dev/null || { echo 'network namespaces are not allowed'; exit 77; }
entered=true
ip netns exec "dxpb-probe-$$" true 2>/dev/null || entered=false
ip netns del "dxpb-probe-$$"
$entered || { echo 'network namespaces cannot be entered'; exit 77; }

"$dxp" bench slots --rounds 1 --json >"$rows" 2>"$rows.said" || die "bench slots ended with $?"

# check CASE CONTENDER [RATIO]: fails if Jain's index is below 0.5: fewer than 8 of 16 slots share
# equally. RATIO: largest part of the uplink's rate, default 1.
check() {
	local row
	row=$(grep -F "\"case\":\"$1\",\"contender\":\"$2\"" "$rows") ||
		die "no row: $1, $2"
	awk -v row="$row" -v most="${3:-1}" '
		function number(key,    skip) {
			skip = length(key) + 3
			match(row, "\"" key "\":[0-9.e+-]+")
			return substr(row, RSTART + skip, RLENGTH - skip) + 0
		}
		BEGIN { exit !(number("slots") == 16 && number("slowest_mb_per_s") > 0 &&
			number("jain") >= 0.5 && number("ratio") <= most) }' || die "$1, $2: $row"
}
check send 'slots send'
check receive 'slots receive'
check 'send and receive' 'slots send'
check 'send and receive' 'slots receive'
check 'between slots' 'slots to slots' 1000
[ "$(wc -l <"$rows")" -eq 5 ] || die 'not 5 rows'
[ "$(ip netns list | grep -c "^dxpb-.*-near" || true)" -eq 0 ] || die 'a namespace is left'
echo passed
