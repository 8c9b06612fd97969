#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/chaos: a seed always has the same plan, wrong use is refused, a short plan passes, and a
# defect fails its check.
#
#   chaos.sh [long]   long: ten minutes of faults, then each defect
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

chaos=$(cd "$(dirname "$0")/../.." && pwd)/tools/chaos
scratch=$(mktemp -d)
readonly chaos scratch
running=''
say() { printf '%s\n' "$*"; }
die() {
	say "FAILED: $*"
	exit 1
}
clean_up() {
	# tools/chaos removes its fabric on SIGTERM
	[ -z "$running" ] || ! kill "$running" 2>/dev/null || wait "$running" || true
	rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 143' TERM INT

command -v python3 >/dev/null || {
	echo 'skipped: python3 is not installed; install: tools/setup check'
	exit 77
}

# refuse TEXT OPTION...: must fail with status 2 and print the text.
refuse() {
	local text=$1 status=0
	shift
	"$chaos" "$@" >"$scratch/out" 2>&1 || status=$?
	[ $status -eq 2 ] || die "'$*' ended with $status: $(cat "$scratch/out")"
	has -F -- "$text" <"$scratch/out" || die "'$text' is not in: $(cat "$scratch/out")"
}

# chaos_run OPTION...: runs a plan; sets `status`; the output is in $scratch/out.
chaos_run() {
	status=0
	"$chaos" --dir "$scratch/run" "$@" >"$scratch/out" 2>&1 &
	running=$!
	wait $running || status=$?
	running=''
	if [ $status -eq 77 ]; then
		tail -n 1 "$scratch/out"
		exit 77
	fi
	grep '^skipped: ' "$scratch/out" || true
}

passes() {
	chaos_run "$@"
	[ $status -eq 0 ] || die "chaos $*: $(cat "$scratch/out" "$scratch"/run/logs/*.log)"
	say "$(cat "$scratch/out")"
	rm -rf "$scratch/run"
}

# finds DEFECT CHECK: a run with the defect must fail this check.
finds() {
	chaos_run --replay "$scratch/short" --load put --defect "$1"
	[ $status -eq 1 ] || die "with the defect $1, it ended with $status: $(cat "$scratch/out")"
	has "^FAILED: $2:" <"$scratch/out" || die "$1 failed no check $2: $(cat "$scratch/out")"
	say "ok: defect $1: $(sed -n "0,/^FAILED: $2:/s/^FAILED: \($2:.*\)/\1/p" "$scratch/out")"
	rm -rf "$scratch/run"
}

say '== plans'
for minutes in 1 30; do
	"$chaos" --seed 7 --minutes $minutes --plan >"$scratch/plan"
	"$chaos" --seed 7 --minutes $minutes --plan | cmp - "$scratch/plan"
	"$chaos" --replay "$scratch/plan" --plan | cmp - <(grep -v '^#' "$scratch/plan")
	! "$chaos" --seed 8 --minutes $minutes --plan | cmp -s - "$scratch/plan" ||
		die 'seeds 7 and 8 have the same plan'
done
for kind in kill stop cut loss slow full; do
	has " $kind " <"$scratch/plan" || die "30 minutes of seed 7 have no $kind"
done
"$chaos" --seed 7 --faults kill --load put --plan | grep -v '^#' >"$scratch/kills"
! has -v ' kill ' <"$scratch/kills" || die "not only kills: $(cat "$scratch/kills")"

say '== wrong use'
refuse "'fire' is not one of kill, stop" --faults kill,fire
refuse "'sql' is not one of put, allreduce" --load sql
refuse 'is not 0.1 to 10000' --minutes 0
refuse 'No such file' --replay "$scratch/none"
refuse 'File exists' --seed 1 --dir "$scratch"
while IFS='|' read -r line text; do
	printf '# a comment\n%s\n' "$line" >"$scratch/bad"
	refuse "$text" --replay "$scratch/bad"
done <<-'END'
	1.0 burn xpu1 2.0|line 2: 'burn xpu1 2.0' is no fault
	1.0 kill xpu9 2.0|line 2: 'xpu9' is no target of kill
	1.0 kill xpu1 99|line 2: '99' is not 0 to 60 seconds
	1.0 loss xpu1 2.0|line 2: the value of loss is one of: 1, 3, 8
	1.0 kill xpu1 2.0 5|line 2: the value of kill is one of: none
	soon kill xpu1 2.0|line 2: begin with a pause
	1.0 kill xpu1 2.0, stop xpu1 1.0|line 2: write at most two faults, of different targets
	|it has no fault
END

if [ "${1:-}" = long ]; then
	say '== ten minutes'
	passes --seed 1 --minutes 10
	say '== each defect'
	echo '0.5 kill s2 0.5' >"$scratch/short"
	echo '0.5 stop xpu2 1.0' >>"$scratch/short"
	while read -r defect check; do
		finds "$defect" "$check"
	done <<-'END'
		counters counters
		crash crash
		dead dead
		descriptors leak
		error error
		falling counters
		file leak
		hung hung
		memory leak
		process leak
		silent silent
		slow recovery
		workers leak
		wrong wrong
	END
else
	say '== a short plan'
	cat >"$scratch/short" <<-'END'
		0.5 kill xpu2 0.5
		0.5 kill manager 0.5
		0.5 kill s1 0.5, loss xpu1 2.0 3
		0.5 cut xpu3 1.5 drop
		0.5 full manager 1.0
	END
	passes --replay "$scratch/short" --load put,grants
	echo '0.5 stop xpu2 1.0' >"$scratch/short"
	finds counters counters
fi
say passed
