#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp top` and `dxp trace` on a busy fabric, and after processes are killed.
# shellcheck disable=SC2016 # the sentences quote commands with backticks
#
#   dxp ping --- 127.0.0.1 --- dxp-manager
#   dxp top           +------- dxpd daemon1: xpu1
#   dxp trace         +------- dxpd daemon2: xpu2   loses 2 % of what it sends; killed at the end
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

daemon2='' ping='' first=''
ours() { echo "$first $ping $daemon2"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

here=$(cd "$(dirname "$0")/../.." && pwd)
export DXP_STATS=$scratch/stats

command -v tshark >/dev/null || left_out 'what captures hold' 'no tshark; tools/setup check'

# records FILE: prints the datagrams of a capture, or 1 without tshark. Each must be an RLTP packet
# or a frame of the manager.
records() {
	if ! command -v tshark >/dev/null; then
		[ "$(head -c 4 "$1" | od -An -tx1 | tr -d ' ')" = 0a0d0d0a ] ||
			die "$1 is no pcapng file"
		echo 1
		return
	fi
	tshark -X "lua_script:$here/tools/rltp.lua" -r "$1" -T fields -e _ws.col.Protocol \
		-e _ws.expert.message 2>/dev/null >"$scratch/protocols"
	! grep -Evq '^RLTP' "$scratch/protocols" ||
		die "not RLTP: $(sort "$scratch/protocols" | uniq -c)"
	! grep -q 'Not a sound frame' "$scratch/protocols" ||
		die "malformed: $(sort "$scratch/protocols" | uniq -c)"
	wc -l <"$scratch/protocols"
}

# at_least NUMBER WHAT COUNT: fails if COUNT is below NUMBER.
at_least() {
	[ "$3" -ge "$1" ] || die "$3 $2, at least $1 were expected"
}

say "== no node runs"
refuse 1 'start some with `dxp up`' dxp top --once
refuse 1 'start some with `dxp up`' dxp trace --output "$scratch/none"
refuse 1 'standard output is not a terminal' dxp top
refuse 2 "--sort is name, in, out or repeats" dxp top --once --sort frob
refuse 2 '--snap needs a size from 1 to 65507' dxp trace --snap 0
refuse 2 'a power of two' dxp trace --ring 300K
dxp top --json | tr -d ' \n' | has -F '"nodes":[]' || die "no empty list"

dxp up --xpus 1 --memory 64M --port 0 --engine none
manager=$(cat "$DXP_DIR/manager")
DXP_FAULT=loss=2%,seed=5 dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --first 2 \
	--memory 64M --engine none >"$scratch/daemon2.log" 2>&1 &
daemon2=$!
for _ in {1..2400}; do # at most 120 s
	! dxp nodes | has 'xpu2 .* alive' || break
	sleep 0.05
done

say "== a table, and JSON"
dxp ping xpu2 --count 10000000 --size 256K >/dev/null &
ping=$!
for _ in {1..50}; do # repeats until the pings have started
	dxp top --once --qp --interval 300 >"$scratch/table"
	! has -F "> dxp-$ping" "$scratch/table" || break
done
for text in 'NODE  > PEER' xpu1 xpu2 "> dxp-$ping" "qp 0." "$ping"; do
	expect "$text" "$scratch/table"
done
grep -Eq '^xpu2 .* [0-9.]+[KMG] ' "$scratch/table" || die "no rates: $(cat "$scratch/table")"
dxp top --once --interval 100 --node xpu1 >"$scratch/table"
! grep -q xpu2 "$scratch/table" || die "--node shows others"
refuse 1 "no node named 'xpu9'" dxp top --once --node xpu9
if command -v python3 >/dev/null; then
	dxp top --json | python3 -c '
import json, sys
nodes = {n["name"]: n for n in json.load(sys.stdin)["nodes"]}
xpu2 = nodes["xpu2"]
t = xpu2["totals"]
assert t["sent_packets"] == t["acked_packets"] + t["abandoned_packets"] + t["inflight"] + \
    t["lost"] + t["waiting"], t
repeats = sum(t["retransmitted_" + c] for c in ("gap", "probe", "timeout", "busy"))
assert t["sent_packets"] > 1000 and repeats > 0, t
assert xpu2["counters"]["faults"] > 0
assert nodes["xpu1"]["kind"] == "xpu" and xpu2["sessions"][0]["srtt_ns"] > 0
'
else
	left_out 'the JSON of dxp top' 'no python3; tools/setup check'
fi

say "== the screen"
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
	# repeated with more time: a loaded machine draws late
	for pause in 0.5 2 5; do
		(sleep $pause && printf p && sleep $pause && printf q) |
			script -qec 'stty rows 12 columns 90; dxp top --interval 200' \
				"$scratch/screen" >/dev/null ||
				die "ended with $?: $(cat -v "$scratch/screen")"
		! has -F '  qp 0.' "$scratch/screen" || break
	done
	expect 'q quit' "$scratch/screen"
	expect 'NODE  > PEER' "$scratch/screen"
	expect '  qp 0.' "$scratch/screen" # shown after key p
	grep -q $'\033\\[?1049l' "$scratch/screen" || die "the screen is not given back"
else
	left_out 'the screen of dxp top' 'no program script, or no pseudo-terminal'
fi

say "== traces"
dxp trace --node xpu2 --seconds 5 --count 3000 --output "$scratch/one.pcapng"
at_least 100 datagrams "$(records "$scratch/one.pcapng")"
if command -v tshark >/dev/null; then
	tshark -r "$scratch/one.pcapng" -T fields -e frame.comment 2>/dev/null |
		sort | uniq -c >"$scratch/comments"
	expect 'DXP_FAULT: dropped' "$scratch/comments"
	expect 'retransmission: ' "$scratch/comments"
fi
refuse 1 'choose with --node, --pid or --all' dxp trace --output "$scratch/which"
dxp trace --all --count 50 --snap 65507 --output - >"$scratch/all.pcapng"
at_least 1 datagrams "$(records "$scratch/all.pcapng")"
dxp trace --pid "$daemon2" --ring 256K --snap 9000 --seconds 1 --output "$scratch/narrow.pcapng" \
	2>"$scratch/narrow"
expect 'were lost because the ring was full' "$scratch/narrow"

say "== two tracers; one that is killed"
dxp trace --node xpu2 --output "$scratch/first.pcapng" 2>"$scratch/first" &
first=$!
for _ in {1..2400}; do # at most 120 s
	[ ! -s "$scratch/first.pcapng" ] || break
	sleep 0.05
done
refuse 1 "process $first already traces this node" dxp trace --node xpu2 --output "$scratch/second"
kill -9 "$first"
wait "$first" 2>/dev/null || true
dxp trace --node xpu2 --seconds 5 --count 3000 --output "$scratch/third.pcapng"
at_least 100 datagrams "$(records "$scratch/third.pcapng")"

say "== Ctrl-C ends a trace in order"
dxp trace --node xpu2 --output "$scratch/int.pcapng" 2>"$scratch/int" &
first=$!
for _ in {1..2400}; do # at most 120 s
	[ ! -s "$scratch/int.pcapng" ] || break
	sleep 0.05
done
kill -INT "$first" 2>/dev/null || true
# SIGTERM, because a shell starts background jobs with SIGINT ignored
kill -TERM "$first" 2>/dev/null || true
wait "$first" || die "ended with $?: $(cat "$scratch/int")"
expect 'datagrams of 1 node' "$scratch/int"

say "== a whole life"
DXP_TRACE=$scratch/life-%p.pcapng dxp ping xpu1 --count 10 >/dev/null
at_least 20 datagrams "$(records "$scratch"/life-*.pcapng)"

say "== files of others are told from ours"
printf 'no counters' >"$DXP_STATS/1-1.stats"
dxp top --json >/dev/null 2>"$scratch/out"
expect 'is ignored: it is too short' "$scratch/out"
rm "$DXP_STATS/1-1.stats"

say "== a node that is killed"
kill -9 "$daemon2"
wait "$daemon2" 2>/dev/null || true
kill "$ping" 2>/dev/null || true
wait "$ping" 2>/dev/null || true
dxp top --once --interval 100 >"$scratch/table"
! grep -q '^xpu2' "$scratch/table" || die "a dead node is shown: $(cat "$scratch/table")"
dxp down
[ -z "$(ls -A "$DXP_STATS")" ] || die "left behind: $(ls -A "$DXP_STATS")"
say passed
