#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp bench registers`: every number of accesses has its row, for each way. The benchmark reads
# back what it wrote and fails if it differs; no time is checked.
#
#   dxp bench --- 127.0.0.1 --- dxp-manager   dxpd: xpu1, ...
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

# bench NAME [OPTION...]: writes the rows to $scratch/rows.
bench() {
	timeout 300 dxp bench "$@" --quick --rounds 1 --json >"$scratch/rows" 2>"$scratch/said" ||
		die "bench $* ended with $?: $(cat "$scratch/said" "$scratch/rows")"
}

# rows CASE CONTENDER METRIC COUNT: so many rows of a metric have a value; `CASE` may be a part.
rows() {
	local count
	count=$(grep -F "\"case\":\"$1" "$scratch/rows" | grep -F "\"contender\":\"$2\"" |
		grep -F "\"metric\":\"$3\"" | grep -cE '"value":[0-9.e-]*[1-9]' || true)
	[ "$count" -eq "$4" ] || die "$count of $4 rows: $1, $2, $3: $(cat "$scratch/rows")"
}

say "== registers"
bench registers
for access in write read; do
	for contender in 'host, one at a time' 'host, in blocks' kernel; do
		rows "$access " "$contender" time 11
	done
	rows "$access 1024" kernel time 1
done
[ "$(grep -c '"peer":"raw UDP round trip"' "$scratch/rows")" -eq 66 ] || die 'rows without a peer'
bench registers --only kernel --case write
[ "$(wc -l <"$scratch/rows")" -eq 11 ] || die "--only and --case: $(cat "$scratch/rows")"
refuse 2 "'nonsense' is not an option" dxp bench registers nonsense
say passed
