#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the programs of test/opencl on the OpenCL plugin over two nodes, and unmodified on PoCL. A
# case that passes on PoCL must pass on the plugin. No further case may be skipped, except cases
# with images on an engine without images.
#
#   program --- OpenCL loader --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1   dxpd: xpu2
#
#   opencl_suite.sh [--oracle] [--engine NAME] [PROGRAM]...   default: all, on engine ocl;
#                                                             RIG_SEED=N replays
#
# PoCL runs only the programs that compare values between both platforms. With --oracle it runs all,
# which takes twice as long.
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

sources=$(cd "$(dirname "$0")/../opencl" && pwd)
everything=false engine=ocl
if [ "${1:-}" = --oracle ]; then
	everything=true
	shift
fi
if [ "${1:-}" = --engine ]; then
	engine=$2
	shift 2
fi
readonly sources everything engine
if [ $# -eq 0 ]; then
	mapfile -t programs < <(find "$OPENCL_TESTS" -maxdepth 1 -type f -perm -u+x \
		! -name 'probe*' -printf '%f\n' | sort)
	[ ${#programs[@]} -gt 0 ] || without_opencl 'no programs in test/opencl: no OpenCL library'
else
	programs=("$@")
fi
export RIG_SEED=${RIG_SEED:-$((RANDOM * 32768 + RANDOM))}
failures=0 cases=0

# cases_of FILE: prints passed and skipped cases, one a line.
cases_of() {
	sed -n 's/^\(ok\|skipped\) \([a-z0-9_]*\).*/\1 \2/p' "$1" | sort
}

# results_of FILE: prints values that must be equal, for cases that passed on both platforms.
results_of() {
	grep '^same ' "$1" | grep -F -f <(comm -12 "$scratch/oracle.cases" "$scratch/dxp.cases" |
		sed 's/^ok \(.*\)/same \1 /') || : # there may be none
}

# bad FILE: prints at most 60 lines of failures.
bad() {
	grep -Ev '^(ok|same) ' "$1" | sed -n 1,60p
}

wrong() {
	say "FAILED: $*"
	failures=$((failures + 1))
}

# unclaimed CASE: whether it was skipped because the engine lacks a feature.
unclaimed() {
	[ "$engine" = rv32 ] && grep -q "^skipped $1: no images" "$scratch/dxp"
}

# has_oracle PROGRAM: succeeds if PoCL also runs this program.
has_oracle() {
	$everything || grep -q 'rig_same(' "$sources/$1.c"
}

# oracles: runs programs on PoCL; writes PROGRAM.oracle, then PROGRAM.status.
oracles() {
	local program status
	for program in "${programs[@]}"; do
		has_oracle "$program" || continue
		status=0
		oracle timeout 300 "$OPENCL_TESTS/$program" >"$scratch/$program.oracle" 2>&1 ||
			status=$?
		echo $status >"$scratch/$program.ended"
		mv "$scratch/$program.ended" "$scratch/$program.status"
	done
}

# compare PROGRAM: waits for its run on PoCL and compares it with the nodes'.
compare() {
	local program=$1
	while [ ! -e "$scratch/$program.status" ]; do
		runs "$oracles" || [ -e "$scratch/$program.status" ] ||
			die "$program: its run on PoCL did not end"
		sleep 0.05
	done
	mv "$scratch/$program.oracle" "$scratch/oracle"
	[ "$(cat "$scratch/$program.status")" -eq 0 ] ||
		wrong "$program on PoCL itself: $(bad "$scratch/oracle")"
	cases_of "$scratch/oracle" >"$scratch/oracle.cases"
	diff "$scratch/oracle.cases" "$scratch/dxp.cases" | grep '^[<>]' >"$scratch/diff" ||
		: # no differences
	# The OpenCL plugin may pass a case that PoCL skips.
	while read -r side state name; do
		[ "$side $state" = '> ok' ] || [ "$side $state" = '< skipped' ] ||
			unclaimed "$name" ||
			grep -q "^FAILED $name:" "$scratch/dxp" "$scratch/oracle" ||
			wrong "$program: $name: '$side $state' (<: PoCL, >: the driver)"
	done <"$scratch/diff"
	diff <(results_of "$scratch/oracle") <(results_of "$scratch/dxp") >"$scratch/diff" ||
		wrong "$program: other results: $(head -n 5 "$scratch/diff")"
}

# check PROGRAM: runs it on the nodes, and compares if PoCL runs it too.
check() {
	local program=$1 begin=$SECONDS
	driver timeout 300 "$OPENCL_TESTS/$program" >"$scratch/dxp" 2>&1 ||
		wrong "$program: $(bad "$scratch/dxp")"
	cases_of "$scratch/dxp" >"$scratch/dxp.cases"
	cases=$((cases + $(grep -c '^ok' "$scratch/dxp.cases" || true)))
	sed -n 's/^skipped \([a-z0-9_]*\): */\1 /p' "$scratch/dxp" | while read -r name reason; do
		left_out "$name" "${reason:-no reason given}"
	done
	! has_oracle "$program" || compare "$program"
	say "$program: $(tail -n 1 "$scratch/dxp") ($((SECONDS - begin)) s)"
}

dxp up --xpus 2 --memory 512M --port 0 --engine "$engine"
say "RIG_SEED=$RIG_SEED"
# PoCL runs in parallel, in its own process group.
set -m
oracles &
readonly oracles=$!
set +m
ours() { echo "-$oracles"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
for program in "${programs[@]}"; do
	check "$program"
done
wait "$oracles"
dxp down
[ $failures -eq 0 ] || die "$failures differences; replay: RIG_SEED=$RIG_SEED $0 PROGRAM"
say "passed: $cases cases"
