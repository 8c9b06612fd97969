#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp model` as a command: rows beside the figures of the sources, rows with exact values,
# JSON, TSV, help, a timeline, and bad input, which is rejected with the reason.
# shellcheck disable=SC2016 # the sentences quote commands with backticks
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
readonly source=${DXP_SOURCE:?set by ctest}
scratch=$(mktemp --directory --tmpdir dxp-model.XXXXXX)
readonly scratch
trap '[ $failures -ne 0 ] || rm -rf "$scratch"' EXIT
failures=0

failed() {
	printf 'FAILED: %s\n' "$*"
	failures=$((failures + 1))
}

# refuse STATUS TEXT ARGUMENT...: must fail with this status and TEXT.
refuse() {
	local status=0 expected=$1 text=$2
	shift 2
	"$dxp" model "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	[ "$status" -eq "$expected" ] || failed "dxp model $*: status $status, not $expected"
	grep -qF -- "$text" "$scratch/err" ||
		failed "dxp model $*: no '$text' in: $(cat "$scratch/err")"
}

# row PATTERN ARGUMENT...: a line of the TSV output must match. Calls with the same arguments share
# one run; the part nic takes seconds.
declare -A row_files=()
row() {
	local pattern=$1 file
	shift
	file=${row_files[$*]:-}
	if [ -z "$file" ]; then
		file=$scratch/rows.${#row_files[@]}
		row_files[$*]=$file
		"$dxp" model "$@" --tsv >"$file" 2>"$scratch/err" ||
			failed "dxp model $*: $(cat "$scratch/err")"
	fi
	grep -qE -- "$pattern" "$file" || failed "dxp model $*: no row '$pattern'"
}

# parsed SCRIPT-ARGUMENT...: runs the Python script on standard input; succeeds without Python.
parsed() {
	if command -v python3 >/dev/null; then
		python3 - "$@"
	else
		printf 'left out: no python3, so JSON is not parsed\n'
	fi
}

json_valid() {
	"$dxp" model "$@" --json >"$scratch/json" || failed "dxp model $* --json"
	parsed "$scratch/json" <<'END' || failed "dxp model $* --json does not parse"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows
for row in rows:
    assert {"item", "quantity", "x", "unit", "model", "published"} <= row.keys()
END
}

# The list of parameters also has one object a line; values are numbers, or names of settings.
parameters_valid() {
	"$dxp" model parameters --json >"$scratch/json" || failed 'dxp model parameters --json'
	parsed "$scratch/json" <<'END' || failed 'dxp model parameters --json does not parse'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert {row["name"]: row["value"] for row in rows}["clock_mhz"] == 250
assert {row["name"]: row["value"] for row in rows}["host_overlap"] == "no"
END
}

# Checks figures that the sources report.
row $'^C-07\tT 2D mesh\t4096\tus\t11.64\t11.64\t' loggp
row $'^C-35\ttags least\t130\t\t13\t13\t' tags
row $'^S-09\tbridge host to device\t8388608\tMB/s\t6379\t6668\t' bridge
row $'^S-09\tbridge device to host, control\t8388608\tMB/s\t5696\t5606\t' bridge
row $'^X-16\txPU trip of a read, in cycles\t\tcycles\t-\t544\t' loss
row $'^X-15\tgo-back-N almost unusable at 1 %\t\t\t1\t1\t' loss
row $'^X-18\txPU bandwidth close to 10 Gb/s\t\t\t1\t1\t' loss
row $'^C-07\tslim fly diameter\t4096\tlinks\t-\t4\t' topology --kind slim-fly --nodes 4096
row $'^N-11\tallreduce node\t4x8x8\tus\t-\t' allreduce --hosts 4 --ranks 8
row $'^C-43\tparts of PUT 1 B\tdescriptor read\tcycles\t132\t132.2\t' check --only C-43
row $'^C-43\tengines of NAP-imm without reads\t1\tcycles\t35\t35\t' check --only C-43
row $'^C-25\tdescriptor path, cycles a beat\t16\tcycles\t2\t2\t.*\t2\t2\tgiven' check --only C-25
row $'^N-05\tleaders [(]SRR[)] of a host, socket\t9x32\t\t2\t2\t' check --only N-05
row $'^N-09\tpackets of a ToR to its spine, node\t9x32\t\t1\t1\t' check --only N-09
row $'^S-05\tbridge pipelined over naive\t\t\t5.633\t5.078\t' check --only S-05
row $'^S-06\tmore READs in flight are never slower\t\t\t1\t1\t' check --only S-06
row $'^S-07\tPCIe after coding\t3x8\tMB/s\t7877\t7876\t' check --only S-07
row $'^S-08\tlocal DMA, device to device\t\tMB/s\t12173\t12800\t' check --only S-08
row $'^C-41\tNAP-imm converges with NAP-ind\t\t\t1\t1\t' check --only C-41
# The time-out is free, so with loss go-back-N has a wide interval; without loss both ends are
# equal.
"$dxp" model loss --tsv >"$scratch/out"
awk -F '\t' '$1 == "X-15" && $2 ~ /^loss (sel|go)/ { wrong += ($3 == "0%") != ($8 == $9); rows++ }
	END { exit wrong != 0 || rows != 9 }' "$scratch/out" || failed 'intervals of X-15'
row $'^C-45\tlatency PEARL\t\tus\t1.2\t-\t' check --only C-45
row $'^S-04\tbridge naive step, DMA\t320000000\ts\t0.144\t0.145' check --only S-04
row $'^C-07\tbutterfly distance, searched\t1024\tlinks\t10\t10\t' check --only C-07
row $'^C-07\tthe hypercube grows most slowly\t\t\t1\t1\t' loggp
row $'^C-39\tPCIe after coding\t2x8\tMB/s\t4000\t4000\t' check --only C-39
row $'^S-08\tlocal DMA share of PCIe, round trip\t\t%\t57.3\t57.4\t' check --only S-08
row $'^S-09\tbridge share of PCIe, round trip\t\t%\t60.1\t' check --only S-09
row $'^S-09\tthe bridge rises more slowly than local DMA\t\t\t1\t1\t' check --only S-09
row $'^X-16\tround trip of 4 B, Direct xPU\t\tus\t2.69\t2.685\t' check --only X-16
row $'^X-14\tmatrix product on the xPU\t64\tGFLOP/s\t3.68\t4.658\t' check --only X-14
row $'^X-14\tthe interval has the matrix product.s figure\t\t\t1\t1\t' check --only X-14
row $'^N-11\tmean saving of node mode from 9 hosts\t\t%\t20\t23.44\t' check --only N-11

# Every row must equal the golden file; integer times are the same on every machine.
for part in loggp topology tags bridge 'allreduce --hosts 9,16 --ranks 8,32'; do
	# shellcheck disable=SC2086 # options are words
	"$dxp" model $part --tsv | cut -f 1-4,6,8,9
done >"$scratch/golden"
cmp "$scratch/golden" "$source/test/golden/model-net.tsv" ||
	failed "rows moved; if that is meant: cp $scratch/golden test/golden/model-net.tsv"

# Each parameter of these parts must change a row when it is doubled, halved, or set to an end of
# its range. READs in flight only hide a latency.
# moves GROUP ARGUMENT...: the part `dxp model ARGUMENT...` must use every parameter of GROUP
moves() {
	local group=$1 name value range next moved
	shift
	"$dxp" model "$@" --tsv 2>/dev/null | cut -f 2,3,6,8,9 >"$scratch/base"
	while IFS='!' read -r name value range; do
		moved=no
		for next in $(values "$value" "$range"); do
			"$dxp" model "$@" --set "$name=$next" --tsv 2>/dev/null |
				cut -f 2,3,6,8,9 >"$scratch/now" || continue
			[ -s "$scratch/now" ] && ! cmp -s "$scratch/base" "$scratch/now" || continue
			moved=yes
			break
		done
		[ "$moved" = yes ] || failed "$name moves no row of dxp model $*"
	done < <("$dxp" model parameters "$group" --tsv |
		awk -F '\t' -v OFS=! 'NR > 1 { print $1, $2, $4 }')
}
values() { # values VALUE RANGE: prints values to try
	case $2 in
	*'|'*) tr '|' ' ' <<<"$2" ;;
	*) printf '%s ' $(($1 * 2)) $(($1 / 2)) "${2%% *}" "${2##* }" ;;
	esac
}
moves loggp loggp
moves topology topology
moves allreduce allreduce --hosts 8 --ranks 8 --bytes 64
moves bridge bridge --set read_latency=1ms
moves loss loss

# "seconds" is the value as a time; the clock converts cycles.
seconds() { # seconds PATTERN VALUE ARGUMENT...: the row that matches must have this time
	local pattern=$1 value=$2
	shift 2
	"$dxp" model "$@" --tsv >"$scratch/out" || failed "dxp model $*"
	awk -F '\t' -v pattern="$pattern" -v value="$value" '
		$0 ~ pattern && $12 == value { found = 1 }
		END { exit !found }' "$scratch/out" ||
		failed "dxp model $*: no $pattern of $value s"
}
seconds '^C-06' 1.4e-06 loggp
seconds '^C-35.tags cover' 1.28e-06 tags
seconds '^C-35.tags cover' 6.4e-07 tags --set clock=500MHz
seconds '^X-16.xPU trip of a read, in cycles' 2.72e-06 loss
seconds '^C-35.tags least' - tags

# Constants derived from the row of 1 B must be listed as assumptions where used.
row $'^C-42\tlatency GET\t64\t.*\t[^\t]*host_see_ns[^\t]*,event_cycles,turnaround_cycles\t' \
	nic --op get --bytes 64
row $'^C-42\tlatency NAP-ind\t64\t.*,event_cycles,indirect_cycles\t' nic --op nap-ind --bytes 64
row $'^C-41\tbandwidth PUT\t1\t.*,event_cycles\t' nic --op put --bytes 1
"$dxp" model nic --op get --bytes 1 --tsv >"$scratch/out"
! grep -q $'^C-42\tlatency GET\t1\t.*event_cycles' "$scratch/out" || failed 'base=value'
"$dxp" model nic --op get --bytes 64 --set base=value --tsv >"$scratch/out"
! grep -q event_cycles "$scratch/out" || failed 'assumptions of base=value'

# A wrong constant must fail the check and name the rows.
refuse 1 'out of tolerance: T hypercube' check --only C-07 --set hop_ns=300
refuse 1 'tolerance: descriptor path, cycles a beat' check --only C-25 --set extract_bytes=16
refuse 1 'tolerance: leaders (SRR) of a host, socket' check --only N-05 --set sockets=1
refuse 1 'tolerance: packets of a ToR to its spine, socket' check --only N-09 --set sockets=4
refuse 1 'tolerance: bridge pipelined over naive' check --only S-05 --set dma_through=2000000kB/s
refuse 1 'tolerance: InfiniBand READ share' check --only S-07 --set read_kbps=9000000
refuse 1 'tolerance: mean saving of node mode' check --only N-11 --set compute=3us
refuse 1 'tolerance: local DMA, device to device' check --only S-08 --set memory_kbps=20000000

# The shape row of a sentence that does not hold must be 0, and counted.
shape_fails() { # shape_fails QUANTITY ARGUMENT...
	local quantity=$1
	shift
	"$dxp" model check "$@" --tsv >"$scratch/out" 2>"$scratch/err" || true
	grep -q "^[A-Z]-[0-9]*.$quantity.*	1	0	" "$scratch/out" ||
		failed "$quantity holds: $*"
}
shape_fails 'NAP-imm converges with NAP-ind' --only C-41 --set extract_bytes=1
shape_fails 'NAP-imm loses its advantage' --only C-25 --set extract_bytes=16
shape_fails 'peak is flat above 128 B' --only C-40 --set mps=1024B
shape_fails 'peak rises with requests' --only C-40 --set mps=64B
shape_fails 'local DMA is slower in buffers' --only S-08 --set control_ns=0
row $'^S-06\tbridge host to device by READs\t1\tMB/s\t-\t4' bridge --set read_latency=1ms
row $'^S-06\tbridge host to device by READs\t4\tMB/s\t-\t6[56]' bridge --set read_latency=1ms
shape_fails 'longer transfers are faster' --only S-09 --set ring_buffers=1 --set control_ns=0
shape_fails 'node mode pays from 9 hosts' --only N-11 --set compute=30us
shape_fails 'the pipeline is faster' --only S-05 --set dma_through_kbps=200000

# A judge's figures must appear in the table; calibration must move parameters towards them.
printf 'loss selective-repeat 1%% 8.5\n' >"$scratch/judge"
row $'loss selective repeat\t1%\tGb/s\t8.5\t' check --only X-15 --judge "$scratch/judge"
printf 'allreduce host 2x1x8 4.0\n' >"$scratch/rows"
row $'calibrated\tnic_latency_ps\tps\t-\t[0-9]+\t' allreduce --hosts 2 --ranks 1 \
	--way host --calibrate "$scratch/rows"
"$dxp" model check --only N-11 --list >"$scratch/out"
grep -q $'^allreduce socket\t16x64x256\t' "$scratch/out" || failed 'check --list'

# `dxp model parameters` can be converted to a file for --config.
"$dxp" model parameters | awk '{ print $1 " = " $2 }' >"$scratch/all"
"$dxp" model parameters --config "$scratch/all" | cmp - <("$dxp" model parameters) ||
	failed 'parameters as a file for --config'

# The same seed must give the same bytes.
"$dxp" model share --seed 7 --json >"$scratch/one"
"$dxp" model share --seed 7 --json | cmp - "$scratch/one" || failed 'share --seed 7'

# A timeline has a slice per packet; a grid sweeps a parameter.
"$dxp" model nic --op put --bytes 2048 --trace "$scratch/trace.json" --json >"$scratch/json"
"$dxp" model nic --op put --bytes 2048 --json --sweep tags=8,32 >"$scratch/json"
parsed "$scratch/trace.json" "$scratch/json" <<'END' || failed 'nic --trace --sweep'
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

# A written schedule must give the collective's rows.
"$dxp" model allreduce --collective tree --hosts 9 --write "$scratch/tree"
"$dxp" model allreduce --collective tree --hosts 9 --tsv | cut -f 2,6 >"$scratch/one"
"$dxp" model allreduce --schedule "$scratch/tree" --tsv | cut -f 2,6 >"$scratch/two"
grep -F messages "$scratch/one" | cmp - <(grep -F messages "$scratch/two") || failed 'schedule'

for part in 'nic --bytes 64' 'crossbar --ports 4 --vcs 2 --load 0.2' share loggp tags bridge loss \
	'topology --nodes 64' 'allreduce --hosts 4 --ranks 8' 'check --only C-06'; do
	# shellcheck disable=SC2086 # $part may be several words
	json_valid $part
done
parameters_valid
for part in nic crossbar share loggp topology tags allreduce bridge loss check parameters; do
	"$dxp" model $part --help >"$scratch/out"
	for option in --json --tsv --set --sweep --preset --config --help; do
		grep -qE -- "^  (-h, )?$option" "$scratch/out" ||
			failed "dxp model $part --help: $option"
	done
done

# Only parts with random numbers have --seed; others reject it, and their help lacks it.
for part in crossbar share loss check; do
	"$dxp" model $part --help >"$scratch/out"
	grep -q -- '^  --seed' "$scratch/out" || failed "$part --help: --seed"
done
row $'^C-44\tlatency at load 0.100\t' crossbar --load 0.1 --seed 3
row $'^X-18\t' check --only X-18 --seed 3
for part in nic loggp topology tags allreduce bridge parameters; do
	"$dxp" model $part --help >"$scratch/out"
	! grep -q -- '^  --seed' "$scratch/out" || failed "$part --help: --seed"
	refuse 2 "--seed has no effect here, because $part uses no random numbers" $part --seed 3
done
refuse 2 'because no row of C-35 uses random numbers' check --only C-35 --seed 3

# Tests bad input.
refuse 2 "there is no part 'nick'" nick
refuse 2 'unknown option' nic --speed 3
refuse 2 "there is no parameter 'clok'; the nearest name is clock_mhz;" nic --set clok=3
refuse 2 'the nearest name is memory_read_cycles;' nic --sweep memory_reed=3,4
refuse 2 'its units: MHz GHz' nic --set clock_mhz=300ns
refuse 2 'has no unit' nic --set clock=300
refuse 2 'below the link' nic --set pcie=5x16
refuse 2 'allowed: 1 to 256' nic --set tags=300
refuse 2 'allowed: 1 to 4' crossbar --vcs 8
refuse 2 "'2' has no unit" crossbar --load 2
refuse 2 'allowed: 1 to 1000' crossbar --load 1.5
refuse 2 "'5' has no unit" share --tolerance 5
row $'^C-44\tlatency at load 0.050\t' crossbar --load 5%
row $'^C-44\tlatency at load 0.100\t' crossbar --load 0.05..0.1+0.05
refuse 2 'there is no preset' nic --preset gen9
refuse 2 'at most 1024 in one list' nic --sweep hop_ns=1..100000+1
refuse 2 'points; at most 100000' nic --sweep hop_ns=1..1000+1 --sweep doorbell_ns=1..1000+1
refuse 2 'is nap-imm, nap-ind, put or get' nic --op send
refuse 2 'allowed: 1 to 2048' nic --op nap-imm --bytes 4K
refuse 2 'needs one --op' nic --trace "$scratch/trace.json"
refuse 2 'cannot read' nic --config "$scratch/no-such-file"
printf 'tags = 64\nhops = far\n' >"$scratch/bad"
refuse 2 'line 2: hops' nic --config "$scratch/bad"
printf '# nothing\n\n' >"$scratch/bad"
refuse 2 'no line has a value' nic --config "$scratch/bad"
printf 'tags = 64\0\n' >"$scratch/bad"
refuse 2 'has a byte of 0' nic --config "$scratch/bad"
for option in preset config op bytes trace; do
	refuse 2 "--$option is empty" nic "--$option="
done
refuse 2 '--judge is empty; give a FILE, or drop it' check --judge ''
refuse 2 "no group 'nik'" parameters nik
refuse 2 "there is no topology 'ring'" topology --kind ring
refuse 2 'power of two' topology --kind hypercube --nodes 1000
refuse 2 "there is no way 'air'" allreduce --way air
refuse 2 "there is no collective 'gather'" allreduce --collective gather
refuse 2 'do not divide among 2 sockets' allreduce --way socket --ranks 7
refuse 2 'operations' allreduce --collective all-to-all --hosts 4096 --ranks 64
refuse 2 '--schedule and --collective exclude each other' allreduce --schedule a --collective ring
refuse 2 "no row has the item 'Q-1'" check --only Q-1
printf 'latency PUT\n' >"$scratch/judge"
refuse 2 'line 1: expected QUANTITY X VALUE' check --judge "$scratch/judge"
printf '\nallreduce host 4x8x4 -1\n' >"$scratch/judge"
refuse 2 'line 2: the value is not a number' allreduce --calibrate "$scratch/judge"
printf 'latency PUT 64 1\n' >"$scratch/judge"
refuse 2 'line 1: ' allreduce --calibrate "$scratch/judge"
printf 'ranks 2\nrank 0 {\nrecv 1b from 1\n}\n' >"$scratch/wait"
refuse 2 'rank 0 waits for a message of rank 1' allreduce --schedule "$scratch/wait"
printf 'ranks 2\nrank 0 {\nsend lots to 1\n}\n' >"$scratch/wait"
refuse 2 "line 3: 'lots': not a size" allreduce --schedule "$scratch/wait"
refuse 2 'cannot read' allreduce --schedule "$scratch/no-such-file"
refuse 1 'cannot be written' allreduce --collective ring --write "$scratch/no/such"

refuse 2 'cannot read' allreduce --calibrate "$scratch/no-such-file"
refuse 2 'cannot read' check --judge "$scratch/no-such-file"
printf '# nothing\n\n' >"$scratch/judge"
refuse 2 'no line has a value' check --judge "$scratch/judge"
refuse 2 'no line has a value' allreduce --calibrate "$scratch/judge"

# An option without effect is rejected. Each line: a part and two options that exclude each other.
while read -r part one other; do
	# shellcheck disable=SC2086 # options are words
	refuse 2 'exclude each other' $part ${one//,/ } ${other//,/ }
done <<-END
	nic --json --tsv
	parameters --json --tsv
	nic --peak --op,put
	nic --peak --bytes,64
	nic --peak --breakdown
	nic --peak --trace,$scratch/none
	nic --trace,$scratch/none --sweep,tags=8
	crossbar --get --knee
	crossbar --get --intervals
	crossbar --get --load,0.5
	crossbar --get --ports,4
	crossbar --get --vcs,2
	crossbar --get --seed,3
	crossbar --knee --load,0.5
	crossbar --knee --sweep,load_permille=500
	crossbar --intervals --load,0.5
	share --grid --curve
	share --grid --policy,bytes
	share --grid --largest,4K
	share --grid --tolerance,0.05
	share --grid --sweep,policy=bytes
	allreduce --schedule,a --collective,ring
	allreduce --schedule,a --hosts,4
	allreduce --schedule,a --bytes,4
	allreduce --schedule,a --way,node
	allreduce --collective,ring --way,node
	allreduce --collective,ring,--write,a --calibrate,b
	allreduce --collective,ring,--write,a --sweep,sockets=1
	allreduce --collective,ring,--write,a --set,sockets=1
	allreduce --collective,ring,--write,a --config,$scratch/all
	allreduce --collective,ring,--write,a --json
	allreduce --collective,ring,--write,a --tsv
	check --list --judge,a
	check --list --calibrate,a
	check --list --json
	check --list --tsv
	check --list --set,tags=8
	check --list --config,$scratch/all
	check --list --seed,3
	check --list --sweep,tags=8
END
[ ! -e "$scratch/none" ] || failed 'a refused run wrote its file'
refuse 2 'tags is swept twice' nic --sweep tags=8 --sweep tags=16
refuse 2 'ports is swept twice' crossbar --ports 4 --sweep ports=8
refuse 2 'tags is both set and swept' nic --set tags=8 --sweep tags=16
refuse 2 'pcie_generation is both set and swept' nic --set pcie=2x8 --sweep pcie_generation=1,2
refuse 2 'pcie_lanes is both set and swept' nic --set ' pcie = 2x8' --sweep pcie_lanes=4,8
refuse 2 'has no effect here' nic --set ' ports = 8'
refuse 2 'one value of --hosts' allreduce --collective ring --hosts 4,9
refuse 2 'ports is a parameter of crossbar and has no effect here' nic --set ports=8
refuse 2 'has no effect here' allreduce --sweep tags=8,16
refuse 2 'has no effect here' share --set pcie_lanes=8 --set loss_ppm=1%
refuse 2 'has no effect here' loss --set pcie=4x8

# Tests the list of parameters as TSV.
"$dxp" model parameters nic --tsv >"$scratch/out"
grep -q $'^clock_mhz\t250\tMHz\t10 .. 5000\tT\t' "$scratch/out" || failed 'parameters --tsv'

[ $failures -eq 0 ]
