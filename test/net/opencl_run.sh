#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp run`: the nodes that a program finds, the summary at its end, complete traces, and exit
# statuses, which are passed on. All temporary files and processes are removed.
#
#   clinfo, sh, a test's program --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1, xpu2, xpu3
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

[ -x "$OPENCL_TESTS/kernels" ] || without_opencl 'no OpenCL library to link test programs with'
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp

# run STATUS ARGUMENTS...: the program's output goes to `out`, dxp's to `said`.
run() {
	local wanted=$1 status=0
	shift
	dxp run "$@" >"$scratch/out" 2>"$scratch/said" || status=$?
	[ "$status" -eq "$wanted" ] || die "dxp run $*: status $status: $(cat "$scratch/said")"
	[ -z "$(ls -A "$TMPDIR")" ] || die "left behind: $(ls "$TMPDIR")"
}

say "== without a fabric"
run 0 -- sh -c 'exit 0'
expect 'it neither listed OpenCL devices' "$scratch/said"
run 3 -- sh -c 'exit 3'
run 127 -- "$scratch/nothing"
expect 'cannot start' "$scratch/said"
run 126 -- "$scratch"
run 143 -- sh -c 'kill -TERM $$'
run 2 --type toaster -- true
run 2
if dxp run -- "$OPENCL_TESTS/kernels" >"$scratch/out" 2>&1; then
	die 'a program found devices without a fabric'
fi
expect 'no fabric is up on this machine' "$scratch/out"

say "== what a program did"
TMPDIR=$scratch dxp up --xpus 3 --memory 64M --port 0
run 0 --trace "$scratch/trace" -- "$OPENCL_TESTS/kernels" ranges__by_chance
grep -qE '^NODE +COMMANDS +KERNELS' "$scratch/said" || die 'no summary'
grep -qE '^xpu1 +[1-9][0-9]* +[1-9]' "$scratch/said" || die 'no row of xpu1'
if ! command -v python3 >/dev/null; then
	left_out 'JSON of dxp run' 'no python3; tools/setup check'
	python3() { cat >/dev/null; }
fi
python3 - "$scratch/trace" <<-'PYTHON' || die 'the trace is not what viewers read'
	import json, sys
	events = json.load(open(sys.argv[1]))["traceEvents"]
	names = {e["args"]["name"] for e in events if e["ph"] == "M"}
	done = [e for e in events if e["ph"] == "X"]
	assert "xpu1" in names, names
	assert any(e["cat"] == "device" for e in done) and any(e["cat"] == "transfer" for e in done)
	assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in done)
PYTHON
run 0 --json -- "$OPENCL_TESTS/kernels" ranges__by_chance
sed -n '/^{/,$p' "$scratch/said" | python3 -c 'import json, sys; r = json.load(sys.stdin)
assert r["status"] == 0 and r["nodes"][0]["kernels"] > 0, r' ||
	die "the summary of --json is not JSON: $(cat "$scratch/said")"
run 0 --quiet -- sh -c "exec '$OPENCL_TESTS/kernels' ranges__by_chance 2>/dev/null"
[ ! -s "$scratch/said" ] || die "not quiet: $(cat "$scratch/said")"

say "== no profile of engine ocl"
run 0 --profile -- "$OPENCL_TESTS/kernels" ranges__by_chance
expect "has no profile: engine 'ocl' does not count instructions" "$scratch/said"

say "== what a program of the C library did"
run 0 -- ring
grep -qE '^xpu1 +[1-9][0-9]* +10 +16K +16K +160K +160K' "$scratch/said" ||
	die "the work of the C library is not counted: $(cat "$scratch/said")"
grep -qE '^xpu2 +[1-9][0-9]* +10 +0 +0 +160K +160K' "$scratch/said" || die 'no row of xpu2'
run 0 -- sh -c 'hello_xpu && exec ring 1'
expect 'several processes' "$scratch/said"
run 0 -- true
expect 'the program used no xPU; it neither listed OpenCL devices nor' "$scratch/said"

say "== nodes by name"
run 1 --nodes nope -- touch "$scratch/ran"
expect "no node named 'nope' in the fabric" "$scratch/said"
run 1 --nodes xpu1,xpu -- touch "$scratch/ran"
expect "no node named 'xpu' in the fabric" "$scratch/said"
[ ! -e "$scratch/ran" ] || die 'the program ran without its nodes'
[ "$(wc -l <"$scratch/said")" -eq 1 ] || die "more than one line: $(cat "$scratch/said")"
run 0 --quiet --nodes xpu2 -- true

say "== what a killed program did"
dxp run -- "$OPENCL_TESTS/kernels" >"$scratch/out" 2>"$scratch/said" &
running=$!
counted() {
	grep -lsE '^node=.* commands=0*[1-9]' "$TMPDIR"/dxp-run-*/*.summary >"$scratch/file"
}
for _ in {1..2400}; do # at most 120 s
	! counted || break
	sleep 0.05
done
[ -s "$scratch/file" ] || die 'nothing is counted while a program runs'
child=$(basename "$(head -n 1 "$scratch/file")" .summary)
# Kills the child that runs the cases, and its parent.
kill -9 "$(ps -o ppid= -p "$child" | tr -d ' ')" "$child"
status=0
wait $running || status=$?
[ $status -eq 137 ] || die "a killed program: status $status"
expect 'killed by signal 9' "$scratch/said"
grep -qE '^xpu[123] +[1-9]' "$scratch/said" || die "no row of an xPU: $(cat "$scratch/said")"
[ -z "$(ls -A "$TMPDIR")" ] || die "left behind: $(ls "$TMPDIR")"

say "== which nodes it finds"
# found NAMES ARGUMENTS...: checks the devices' nodes, in order.
found() {
	local wanted=$1 names
	shift
	run 0 --quiet "$@" -- clinfo -l
	names=$(sed -n 's/.*Device #[0-9]*: .* on \(.*\)$/\1/p' "$scratch/out" | tr '\n' ' ')
	[ "${names% }" = "$wanted" ] || die "dxp run $*: '$names', not '$wanted'"
}
if command -v clinfo >/dev/null; then
	found 'xpu1 xpu2 xpu3'
	found 'xpu1 xpu2' --nodes 2
	found 'xpu3 xpu1' --nodes xpu3,xpu1
	found 'xpu1 xpu2 xpu3' --engine ocl
	found '' --engine board
	found 'xpu1 xpu2 xpu3' --mem 32M
	found '' --mem 1G
	run 0 --quiet --beside -- clinfo -l
	expect 'Portable Computing Language' "$scratch/out"
	expect 'Direct xPU' "$scratch/out"
	run 0 --quiet --type gpu -- clinfo
	grep -qE 'Device Type +GPU' "$scratch/out" || die 'it is not shown as a GPU'
	say "== a manager that does not answer"
	manager=$(process_of manager)
	kill -STOP "$manager"
	DXP_CL_JOIN_MS=300 run 0 --quiet -- clinfo -l
	kill -CONT "$manager"
	expect 'within 300 ms' "$scratch/said"
	DXP_CL_JOIN_MS=soon run 0 --quiet -- clinfo -l
	expect 'DXP_CL_JOIN_MS=soon is ignored' "$scratch/said"
	expect 'on xpu3' "$scratch/out"
	# shellcheck disable=SC2016 # the program's shell expands it
	run 0 --quiet -- sh -c 'echo "joins within $DXP_CL_JOIN_MS"'
	expect 'joins within 10000' "$scratch/out"
else
	left_out 'which nodes it finds' 'no clinfo; tools/setup opencl'
fi
dxp down
say passed
