#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that tools/plots turns rows into tables and plots, even if some rows are missing.
set -euo pipefail

readonly source=${DXP_SOURCE:?set by ctest}
tree=$(mktemp --directory --tmpdir dxp-plots.XXXXXX)
readonly tree
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bench"
failures=0

rack='"bench":"loss","lab":"wire-1500","contender":"RLTP rack","metric":"goodput","unit":"GB/s"'
bbr='"bench":"loss","lab":"wire-1500","contender":"TCP bbr","metric":"goodput","unit":"GB/s"'
cubic=${bbr/bbr/cubic}
none='"case":"PUT 1 MiB, 0 %","loss_percent":0.0,"cores":"near"'
ten='"case":"PUT 1 MiB, 10 %","loss_percent":10.0,"cores":"near"'
cpu='"near_cpu":300.5,"far_cpu":200.0,"cpu_unit":"ns/KB"'
cat >"$tree/bench/loss.json" <<EOF
{$rack,$none,"value":1.25,$cpu,"samples":5.0}
{$bbr,$none,"value":0.5,"samples":5.0,"note":"1 of 5 runs reached the time limit"}
{$bbr,$ten,"value":0.0,"note":"not built or not on this machine"}
{$cubic,$ten,"value":5e-4,"samples":5.0}
{$rack,$ten,"value":1e-3,"samples":5.0}
EOF

nic='"bench":"nic","lab":"shared memory"'
ours=$nic',"case":"NAP 8 B","contender":"NIC embedded","metric":"round trip p50","unit":"us"'
share=$nic',"case":"8 functions share","contender":"NIC embedded","unit":""'
share="$share,\"metric\":\"Jain's index\""
bell=$nic',"case":"doorbell of a kernel","metric":"round trip p50","unit":"us"'
cat >"$tree/bench/nic.json" <<EOF
{$ours,"value":0.5,"bytes":8.0,"p99_us":0.75,"samples":5.0}
{${ours/embedded/of a third process},"value":0.25,"bytes":8.0,"p99_us":0.5,"samples":5.0}
{${ours/NIC embedded/UCX shm},"value":0.2,"bytes":8.0,"p99_us":0.25,"samples":5.0}
{$share,"value":0.97,"megabytes":1.0,"least_share":0.8,"most_share":1.3,"samples":1.0}
{$share,"value":0.9996,"megabytes":10.0,"least_share":0.99,"most_share":1.02,"samples":1.0}
{$bell,"contender":"kernel","value":0.0,"note":"skipped: no OpenCL on this machine"}
EOF

bridged='"bench":"bridge","lab":"loopback","unit":"GB/s","samples":3.0,"bytes":536870912.0'
ours='"case":"round trip 512 MiB","contender":"pipelined","metric":"goodput"'
sizes='"case":"round trip 512 MiB","contender":"buffers of 1 MiB","metric":"bandwidth"'
spare='"case":"memory, 1024 MiB","contender":"during transfers","metric":"resident memory"'
cat >"$tree/bench/bridge.json" <<EOF
{$bridged,$ours,"value":1.9,"peer":"DMA","peer_value":2.0,"ratio":0.95}
{${bridged/536870912/2},${ours/512 MiB/2 B},"value":0.5,"peer":"DMA","peer_value":2.0,"ratio":0.25}
{$bridged,$sizes,"value":1.7}
{$bridged,$spare,"value":25.5,"peer":"between them","peer_value":20.0,"ratio":1.275}
EOF

expect() { # expect WHAT PATTERN TEXT: fails unless the text contains the pattern
	if ! grep -qF -- "$2" <<<"$3"; then
		printf 'FAILED: %s: no "%s" in:\n%s\n' "$1" "$2" "$3"
		failures=$((failures + 1))
	fi
}
helpers=$source/tools/plots.d page=$source/docs/reference/performance.md
convert() { awk -v mode="$1" -v where="${2:-}" -f "$helpers/json.awk" -f "$helpers/rows.awk" \
	"$tree/bench/${3:-loss}.json"; }

table=$(convert pivot)
expect pivot '| where | case | RLTP rack | TCP bbr | TCP cubic | cores |' "$table"
expect pivot '| wire-1500 | PUT 1 MiB, 0 % | 1.25 (300 + 200) | 0.500 * |  | near |' "$table"
expect pivot '| wire-1500 | PUT 1 MiB, 10 % | 0.001 | not built | 0.001 | near |' "$table"
expect points $'"RLTP rack"\n0.0 1.25 0 0 0\n10.0 1e-3 0 0 0' "$(convert points)"
[ -z "$(convert points 'metric=no such')" ] || failures=$((failures + 1))
expect bars '"wire-1500 PUT 1 MiB, 10 %" 1e-3 - 5e-4' "$(convert bars)"
expect goals '| 10 % loss, to the best peer | >= 4 | 2.00 | missed |' \
	"$(awk -f "$helpers/json.awk" -f "$helpers/goals.awk" "$tree/bench/loss.json")"
expect list '| TCP bbr | goodput | 0.500 GB/s |' "$(convert list)"

expect trips '| shared memory | NAP 8 B | 0.500 / 0.750 | 0.250 / 0.500 | 0.200 / 0.250 |' \
	"$(convert pivot case=NAP nic)"
expect skipped '| doorbell of a kernel | skipped |' "$(convert pivot case=doorbell nic)"
expect shares $'1.0 0.97 0 0 0 0.8 1.3\n10.0 0.9996 0 0 0 0.99 1.02' \
	"$(convert points metric=Jain nic)"
expect shares '| after 10 MB 0.990 .. 1.02 of a fair share |' \
	"$(convert list 'metric=Jain;megabytes=10' nic)"
goals=$(awk -f "$helpers/json.awk" -f "$helpers/goals.awk" "$tree/bench/nic.json")
expect goals '| NAP 8 B on one machine, to UCX shm | <= 2 | 2.50 | missed |' "$goals"
expect goals '| NAP 8 B, added by a third process, core shared, us | <= 1 | -0.250 | met |' \
	"$goals"
expect goals "| 8 functions after 10 MB, Jain's index | >= 0.999 | 1.000 | met |" "$goals"

expect share '| loopback | round trip 512 MiB | 1.90 = 95.0 % |' \
	"$(convert pivot metric=goodput bridge)"
expect routes $'"round trip"\n2.0 0.5 0 0 0\n536870912.0 1.9 0 0 0' \
	"$(convert routes 'metric=goodput;contender=pipelined' bridge)"

# Table lines without rows must stay, others be replaced.
cat >"$tree/page.md" <<EOF
| 10 % loss, to the best peer | >= 4 | 40.0 | not of this table |
<!-- goals -->

| goal | wanted | measured | |
|---|---:|---:|---|
| 1 % loss, to the best peer | >= 1.7 | 5.10 | met |
| bridge, round trip 512 MiB, to the slowest stage | >= 0.9 | 0.111 | missed |
| 64 B NAPs, loopback, M/s | >= 4 | 5.59 | met |

<!-- end -->
| 10 % loss, to the best peer | >= 4 | 40.0 | not of this table either |
EOF
goals=$(awk -v page="$tree/page.md" -f "$helpers/json.awk" -f "$helpers/goals.awk" \
	"$tree/bench/bridge.json")
expect 'goals kept' '| 1 % loss, to the best peer | >= 1.7 | 5.10 | met |' "$goals"
expect 'goals kept' '| 64 B NAPs, loopback, M/s | >= 4 | 5.59 | met |' "$goals"
expect 'goals new' \
	'| bridge, round trip 512 MiB, to the slowest stage | >= 0.9 | 0.950 | met |' "$goals"
expect 'goals new' \
	'| bridge, memory that transfers of 1 GiB add to a daemon, MB | <= 16 | 5.50 | met |' \
	"$goals"
if [ "$(wc -l <<<"$goals")" -ne 6 ]; then
	printf 'FAILED: lines of another table are goals:\n%s\n' "$goals"
	failures=$((failures + 1))
fi
goals=$(awk -v page="$tree/page.md" -f "$helpers/json.awk" -f "$helpers/goals.awk" \
	"$tree/bench/loss.json")
if grep -q '^| 1 % loss' <<<"$goals"; then
	printf 'FAILED: a goal that failed this time keeps its last line:\n%s\n' "$goals"
	failures=$((failures + 1))
fi

if command -v gnuplot >/dev/null; then
	DXP_BUILD=$tree "$source/tools/plots" --quick --no-run >"$tree/log" ||
		failures=$((failures + 1))
	expect picture '</svg>' "$(cat "$tree/bench/plots/loss.svg")"
	for name in nic-trips nic-share bridge bridge-through; do
		expect picture '</svg>' "$(cat "$tree/bench/plots/$name.svg")"
	done
	expect page '| 1.25 (300 + 200) | 0.500 * |' "$(cat "$tree/bench/performance.md")"
	# loss.json has only PUT, so the table of GET must stay.
	expect 'table without rows' "$(grep -F -m 1 '| GET 1 MiB, 1 % |' "$page")" \
		"$(cat "$tree/bench/performance.md")"
else
	echo 'gnuplot is not installed: no pictures were drawn'
fi
[ $failures -eq 0 ]
