#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp bench latency|stream|rate --to NODE` between two machines: numbers follow the link's rate, a
# host without a grant measures nothing, errors name the failed part, and no memory stays allocated.
#
#   near: dxp --- [10.76.4.1] v0 == tbf == v1 [10.76.4.2] --- far: dxp-manager, dxpd: xpu1, small
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
namespaces_make dxpt 10.76.4 ip tc
far ip link set lo up
readonly at=(--manager 10.76.4.2 --key "$scratch/key")
part "$far" manager.log 'listening on' dxp-manager --key "$scratch/key" --new-key \
	--state "$scratch/state" --bind 10.76.4.2 --admit key
part "$far" daemon.log 'xpu1: node' dxpd "${at[@]}" --engine none --memory 64M --name xpu1
daemon=$!
part "$far" small.log 'small: node' dxpd "${at[@]}" --engine none --memory 64M --name small \
	--host-memory 1M
near dxp grant "${at[@]}" allowed '*' >/dev/null
readonly to=("${at[@]}" --name allowed --to)

# bench KIND OPTION...: runs it in the near namespace; JSON rows go to $scratch/rows.
bench() {
	near dxp bench "$@" --json --rounds 3 --quick >"$scratch/rows" 2>"$scratch/notes"
}

# value CASE: prints the value of this case in $scratch/rows.
value() {
	sed -n "s/.*\"case\":\"$1\".*\"value\":\([0-9.e+-]*\).*/\1/p" "$scratch/rows"
}

# within LOW VALUE HIGH: fails unless LOW <= VALUE <= HIGH.
within() {
	awk -v low="$1" -v value="$2" -v high="$3" \
		'BEGIN {exit !(value != "" && low <= value && value <= high)}' ||
		die "'$2' is not from $1 to $3: $(cat "$scratch/rows")"
}

say '== all cases'
bench latency "${to[@]}" xpu1
for case in register command 'PUT 4 B' 'PUT 64 KiB' 'GET 4 B' 'GET 64 KiB'; do
	within 0.1 "$(value "$case")" 1e7
done
[ "$(wc -l <"$scratch/rows")" -eq 14 ] || die "not 14 cases: $(cat "$scratch/rows")"
bench rate "${to[@]}" xpu1
for case in commands 'PUT 64 B' 'GET 64 B'; do within 1e-5 "$(value "$case")" 100; done

say '== bandwidth and latency of a slow link'
# 200 Mb/s carry 0.025 GB/s; the bound adds a tenth for the burst
near tc qdisc add dev v0 root tbf rate 200mbit burst 64k latency 50ms
far tc qdisc add dev v1 root tbf rate 200mbit burst 64k latency 50ms
bench stream "${to[@]}" xpu1 --case '1 MiB, 8'
within 0.002 "$(value 'PUT 1 MiB, 8 at a time')" 0.0275
within 0.002 "$(value 'GET 1 MiB, 8 at a time')" 0.0275
# 64 KiB take 105 ms at 5 Mb/s; the burst makes it shorter
near tc qdisc change dev v0 root tbf rate 5mbit burst 10k latency 500ms
bench latency "${to[@]}" xpu1 --case 'PUT 64 KiB'
within 80000 "$(value 'PUT 64 KiB')" 1e7
near tc qdisc del dev v0 root
far tc qdisc del dev v1 root

say '== a limit of memory leaves out cases'
bench stream "${to[@]}" small --case 'PUT'
within 1e-4 "$(value 'PUT 1 MiB, 1 at a time')" 1000
[ -z "$(value 'PUT 16 MiB, 1 at a time')" ] || die 'it used more memory than the limit'
expect 'left out, because the xPU has only 1024 KiB of memory for this host' "$scratch/notes"
# Fails if the first run left memory allocated.
bench stream "${to[@]}" small --case 'PUT 1 MiB, 1'
within 1e-4 "$(value 'PUT 1 MiB, 1 at a time')" 1000

say '== errors'
fails() {
	refuse "$1" "$2" ip netns exec "$near" dxp bench "${@:3}"
}
fails 1 'not granted: ' latency "${at[@]}" --name stranger --to xpu1
fails 1 'not in the node table: ' latency "${to[@]}" xpu9
fails 2 "no case of \`dxp bench rate --to\` has 'no such'" rate "${to[@]}" xpu1 --case 'no such'
fails 2 'has no --to; latency, stream and rate have it' loss --to xpu1
fails 2 "too many arguments, starting with more" latency "${to[@]}" xpu1 more
# The daemon is killed while the benchmark measures it.
near dxp bench latency "${to[@]}" xpu1 --rounds 99 >"$scratch/out" 2>&1 &
bench=$!
until_says register "$scratch/out"
kill -KILL "$daemon"
! wait "$bench" || die 'it succeeds without the daemon'
expect 'node dead: ' "$scratch/out"
say passed
