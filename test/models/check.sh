#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Searches every state of the Promela models with spin, and proves that each model can fail: with a
# rule broken (BREAK=n, see the head of the model) spin must find the error.
#
#   test/models/check.sh data|credit|slots|freeze [long]     long: two restarts too, 1 min more
#
# Fails if depth or memory cut a search short. Exit status: 0 passed; 1 failed; 77 spin is missing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

optimise=-Og # -O1 takes 5 s longer to compile, and no search here gains as much

# build OPTIONS: compiles the verifier of $model into $work/pan.
build() {
	local kind=-DSAFETY
	[[ $1 != *-DLIVE* ]] || kind=-DNFAIR=4 # fairness over nine processes and the claim
	# shellcheck disable=SC2086 # options are words
	if ! (
		cd "$work"
		rm -f pan* ./*.trail
		spin -a $1 "$here/$model.pml" &&
			"${CC:-cc}" "$optimise" -w $kind -DMEMLIM=3000 -o pan pan.c
	) >"$work/log" 2>&1; then
		cat "$work/log"
		echo "$model: $1: does not build"
		exit 1
	fi
}

# search OPTIONS [CLAIM]: searches all states; CLAIM: checked on every fair path.
search() {
	local liveness=()
	[ $# -lt 2 ] || liveness=(-a -f -N "$2")
	build "$1"
	(cd "$work" && ./pan -m2000000 -w22 -n "${liveness[@]}") >"$work/log" 2>&1 || true
}

complete() {
	! grep -Eq 'Search not completed|depth too small|out of memory|memory limit' "$work/log"
}
states() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/log"; }

holds() {
	search "$@"
	if grep -q 'errors: 0$' "$work/log" && complete; then
		echo "ok: $model $*: all $(states) states"
	else
		cat "$work/log"
		echo "FAILED: $model $*: an error, or not every state was looked at"
		failed=1
	fi
}

fails() {
	search "$@"
	local found
	found=$(grep -Eo '^pan:[0-9]+: (assertion violated|acceptance cycle)' "$work/log" || true)
	if [ -n "$found" ]; then
		echo "ok: $model $*: found (${found#*: })"
	else
		cat "$work/log"
		echo "FAILED: $model $*: a broken rule was not noticed"
		failed=1
	fi
}

data() {
	holds '-DMESSAGES=2 -DSESSIONS=3 -DFAULTS=1'
	[ -z "$long" ] || holds '-DMESSAGES=3 -DSESSIONS=3 -DFAULTS=1'
	[ -z "$long" ] || holds '-DMESSAGES=2 -DSESSIONS=3 -DFAULTS=2'
	holds '-DLIVE -DMESSAGES=3 -DFAULTS=0 -DTROUBLES=2' all_good
	holds '-DLIVE -DMESSAGES=2 -DFAULTS=1 -DTROUBLES=1 -DSESSIONS=3' all_end
	[ -z "$long" ] || holds '-DLIVE -DMESSAGES=2 -DFAULTS=1 -DTROUBLES=1 -DSESSIONS=4' all_end
	optimise=-O0
	local rule
	for rule in 1 2 3 4 5; do
		fails "-DMESSAGES=2 -DSESSIONS=2 -DBREAK=$rule"
	done
	fails '-DLIVE -DMESSAGES=2 -DFAULTS=0 -DTROUBLES=1 -DBREAK=6' all_good
}

credit() {
	holds '-DNAPS=4 -DRING=2 -DFIRST=1 -DRESTARTS=2'
	holds '-DNAPS=4 -DRING=3 -DFIRST=2 -DRESTARTS=1'
	[ -z "$long" ] || holds '-DNAPS=5 -DRING=3 -DFIRST=2 -DRESTARTS=2'
	holds '-DLIVE -DRESTARTS=0 -DTROUBLES=3' all_end
	holds '-DLIVE -DRESTARTS=2 -DTROUBLES=2' all_end
	optimise=-O0
	local rule
	for rule in 1 2 4; do
		fails "-DBREAK=$rule"
	done
	fails '-DLIVE -DRESTARTS=0 -DBREAK=3' all_end
}

slots() {
	holds '-DWINDOW=1 -DSEGMENTS=5'
	holds '-DWINDOW=2 -DSEGMENTS=6'
	[ -z "$long" ] || holds '-DWINDOW=2 -DSEGMENTS=7'
	optimise=-O0
	local rule
	for rule in 1 2 3 4 5; do
		fails "-DWINDOW=1 -DSEGMENTS=5 -DBREAK=$rule"
	done
}

freeze() {
	holds '-DDEATHS=0'
	holds '-DDEATHS=1 -DSEGMENTS=3'
	[ -z "$long" ] || holds '-DDEATHS=1'
	optimise=-O0
	local rule
	for rule in 1 2 3 4; do
		fails "-DDEATHS=0 -DBREAK=$rule"
	done
	fails '-DDEATHS=1 -DSEGMENTS=3 -DBREAK=5'
}

model=${1:-}
long=${2:-}
case $model in
data | credit | slots | freeze) ;;
*) echo "usage: $0 data|credit|slots|freeze [long]" >&2; exit 2 ;;
esac
if ! command -v spin >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
	echo "skipped: spin and a C compiler are needed; install: tools/setup check"
	exit 77
fi
"$model"
exit $failed
