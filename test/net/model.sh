#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp model` as a command: help, formats, a timeline, and bad input, which is refused with the
# reason and the allowed range.
set -euo pipefail

dxp=${DXP_BIN:?set by ctest}/dxp
work=$(mktemp --directory --tmpdir dxp-model.XXXXXX)
readonly dxp work
trap 'rm -rf "$work"' EXIT
failures=0

# refuses TEXT ARGUMENT...: `dxp model ARGUMENT...` must end with status 2 and an error that
# contains the text.
refuses() {
	local text=$1 status=0
	shift
	"$dxp" model "$@" >"$work/out" 2>"$work/err" || status=$?
	if [ "$status" != 2 ] || ! grep -F -e "$text" "$work/err" >/dev/null; then
		echo "dxp model $*: status $status, not refused with '$text':"
		cat "$work/err"
		failures=$((failures + 1))
	fi
}

refuses "there is no part 'nick'" nick
refuses 'unknown option' nic --speed 3
refuses "there is no parameter 'clok'" nic --set clok=3
refuses "its units: MHz GHz" nic --set clock_mhz=300ns
refuses 'has no unit' nic --set clock=300
refuses 'below the link' nic --set pcie=5x16
refuses 'allowed: 1 to 256' nic --set tags=300
refuses 'allowed: 1 to 4' crossbar --vcs 8
refuses 'there is no preset' nic --preset gen9
refuses 'at most 1024 in one list' nic --sweep hop_ns=1..100000+1
refuses 'points; at most 100000' nic --sweep hop_ns=1..1000+1 --sweep doorbell_ns=1..1000+1
refuses 'is nap-imm, nap-ind, put or get' nic --op send
refuses 'allowed: 1 to 2048' nic --op nap-imm --bytes 4K
refuses 'needs one --op' nic --trace "$work/trace.json"
refuses 'cannot read' nic --config "$work/none"
printf 'tags = 64\nhops = far\n' >"$work/bad"
refuses 'line 2: hops' nic --config "$work/bad"
refuses "no group 'nik'" parameters nik

for part in nic crossbar share parameters; do
	"$dxp" model "$part" --help >"$work/help"
	for option in --json --tsv --preset --config --set --sweep --seed; do
		grep -e "$option" "$work/help" >/dev/null || {
			echo "dxp model $part --help lacks $option"
			failures=$((failures + 1))
		}
	done
done

# The values of `dxp model parameters` are a file for --config.
"$dxp" model parameters | awk '{ print $1 " = " $2 }' >"$work/all"
"$dxp" model parameters --config "$work/all" | cmp - <("$dxp" model parameters)

"$dxp" model nic --op put --bytes 2048 --trace "$work/trace.json" --json --sweep tags=8,32 \
	>"$work/rows"
if command -v python3 >/dev/null; then
	python3 - "$work/trace.json" "$work/rows" <<'END'
import json, sys
slices = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
uploads = [e for e in slices if e["tid"] == 8]
assert len(uploads) == 16, uploads
assert all(e["dur"] >= 0 for e in slices)
rows = [json.loads(line) for line in open(sys.argv[2])]
assert [r["tags"] for r in rows] == [8, 8, 32, 32], rows
assert all(r["low"] <= r["model"] <= r["high"] for r in rows), rows
assert rows[2]["assumptions"].count("host_see_ns") == 1
END
fi
# The same seed gives the same bytes.
"$dxp" model share --seed 7 --json >"$work/a"
"$dxp" model share --seed 7 --json | cmp - "$work/a"

[ "$failures" = 0 ]
