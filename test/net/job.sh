#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp job`: keys and xPUs of jobs, many jobs that begin at the same moment, and their end.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token --grants explicit
#   x (xpu) -------------+                  dxpd: a1 a2 a3 a4
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
daemon=''
ours() { echo "$daemon"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
readonly J=$scratch/job

# job NAME OPTION...: begins a job with the folder $J-NAME.
job() {
	local name=$1
	shift
	dxp job begin "$name" --folder "$J-$name" "$@"
}

# refused TEXT NAME OPTION...: the job must not begin, with the text as reason.
refused() {
	local text=$1 name=$2
	shift 2
	refuse 1 "$text" dxp job begin "$name" --folder "$J-$name" "$@"
}

dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
env DXP_DIR="$scratch/x" dxp join "$manager" "$token" --name machine
env DXP_DIR="$scratch/x" dxpd --slots 4 --engine none --memory 16M --name a \
	--state "$scratch/xpus" --port 0 --ready-fd 5 5>"$scratch/ready" >"$scratch/dxpd.log" 2>&1 &
daemon=$!
begin=$SECONDS
until [ "$(dxp nodes | grep -c alive)" -eq 4 ]; do
	[ $((SECONDS - begin)) -le 120 ] || die "dxpd: $(cat "$scratch/dxpd.log")"
	sleep 0.1
done

say "== a job and its rights"
before=$(date +%s%N)
xpus=$(job one --xpus 2)
readonly begin_ms=$((($(date +%s%N) - before) / 1000000))
# time for 12 jobs that begin and end at the same moment, on a machine that is busy otherwise
readonly patience=$((60 + 12 * 10 * begin_ms / 1000))
say "a job begins in $begin_ms ms"
[[ $xpus =~ ^a[1-4],a[1-4]$ ]] || die "xpus: $xpus"
env DXP_DIR="$J-one" dxp ping "${xpus%,*}" --count 1 >/dev/null
refuse 1 'only an operator' env DXP_DIR="$J-one" dxp job begin two --xpus 1 --folder "$J-two"
[ ! -e "$J-two" ] || die "the folder of a job that did not begin"
refused 'are free, one has another' two --xpus 3 --wait 1
refused 'the fabric has 4 such xPUs' two --xpus 5
refused 'with engine ocl; the fabric has 0' two --xpus 1 --engine ocl
refused 'with 1G of memory; the fabric has 0' two --xpus 1 --mem 1G
refused 'cannot create the folder' one --xpus 1
refuse 1 'belongs to another key' dxp job begin one --xpus 1 --folder "$J-two"
env DXP_DIR="$J-one" dxp ping "${xpus%,*}" --count 1 >/dev/null # the job is unchanged
job one --xpus 1 --replace --json | has '"name": "one"'
[ "$(dxp grants | grep -c '^one ')" -eq 1 ] || die "$(dxp grants)"

say "== the end, also twice and by the beginning of names"
cp -r "$J-one" "$J-copy"
xpu=$(dxp grants | sed -n 's/^one *//p')
dxp job end one --folder "$J-one" | has '2 keys and grants were removed' || die 'end'
[ ! -e "$J-one" ] || die 'the folder is left'
refuse 1 'removed' env DXP_DIR="$J-copy" dxp ping "$xpu" --count 1
dxp job end one --folder "$J-one" | has ': 0 keys' || die 'second end'
job s-1-0 --xpus 1
job s-1-1 --xpus 1
job s-10-0 --xpus 1
dxp job end 's-1-*' --json | has '"removed": 4' || die "end 's-1-*'"
[ "$(dxp grants | grep -c '^s-')" -eq 1 ] || die "$(dxp grants)"
dxp job end 's-10-*' >/dev/null

say "== wrong words"
for words in 'begin' 'begin x' 'begin x --xpus 1' 'begin x --folder f' \
	'begin * --xpus 1 --folder f' \
	'begin x* --xpus 1 --folder f' 'begin x --xpus 0 --folder f' \
	'begin x --xpus 257 --folder f' \
	'end *' 'end' 'end a/b' 'end a*b' 'stop x'; do
	status=0
	set -f
	# shellcheck disable=SC2086 # $words are several
	dxp job $words >"$scratch/out" 2>&1 || status=$?
	set +f
	[ $status -eq 2 ] || die "dxp job $words: status $status, $(cat "$scratch/out")"
done

say "== many at the same moment share nothing"
dxp grant admin a4 # an xPU that an operator keeps
pids=()
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
	(
		trap - EXIT
		xpu=$(job "m-$number" --xpus 1 --wait $patience)
		[ "$xpu" != a4 ] && mkdir "$scratch/used-$xpu" || exit 1
		rmdir "$scratch/used-$xpu"
		dxp job end "m-$number" --folder "$J-m-$number" >/dev/null
	) &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || die "a job shares an xPU, or did not begin"
done
[ "$(dxp grants | grep -c '^m-')" -eq 0 ] || die "$(dxp grants)"

say "== one xPU for all"
dxp grant admin a3
dxp grant admin a2
for round in 1 2 3 4 5; do
	pids=()
	for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
		job "r-$number" --xpus 1 --wait 0 >/dev/null 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || true # at most one begins
	done
	[ "$(dxp grants | grep -c '^r-')" -le 1 ] || die "round $round: $(dxp grants)"
	dxp job end 'r-*' >/dev/null
	rm -rf "$J"-r-*
done
dxp revoke admin a3
dxp revoke admin a2

say "== killed while it begins"
for part in 10 40 80; do # percent
	status=0
	delay=$(printf '%d.%03d' $((begin_ms * part / 100000)) $((begin_ms * part / 100 % 1000)))
	timeout -s KILL "$delay" dxp job begin k --xpus 3 --folder "$J-k" --replace || status=$?
done
dxp job end k --folder "$J-k" >/dev/null
dxp grant admin a3
[ "$(job k --xpus 2 --wait 0)" ] || die "xPUs are lost"

say "== any host may use any xPU"
dxp manager init --bind 127.0.0.1 --port 0 --grants any --dir "$scratch/fabric-any" >/dev/null
refuse 1 'start it with --grants explicit' dxp job begin x --xpus 1 --folder "$J-x" \
	--dir "$scratch/fabric-any"
dxp up --port 0 --xpus 1 --engine none --memory 16M --dir "$scratch/fabric-key"
refuse 1 'shared key' dxp job begin x --xpus 1 --folder "$J-x" --dir "$scratch/fabric-key"
say passed
