# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Gives a script its own lab (tools/lab), and removes the lab when the script exits.
#
# DXP_BIN is the folder of the programs.
# `lab` is the name of the lab; `lab_make --hosts N ...` makes it.
# `scratch` is a folder for files of the script.
# `faults` is the value of DXP_FAULT for the members of the next job.
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

DXP_BIN=$(cd "${DXP_BIN:-$(dirname "$0")/../../build/bin}" && pwd)
tests=$DXP_BIN/../test
source=$(cd "$(dirname "$0")/../.." && pwd)
export DXP_BIN
unset DXP_FAULT DXP_INC_SWITCH
lab=dxpi-$$ faults='' hosts=0
job=()

say() { printf '%s\n' "$*"; }
without() {
	say "skipped: $*"
	exit 77
}
die() {
	say "FAILED: $*"
	exit 1
}

for program in "$DXP_BIN/dxp" "$DXP_BIN/dxp-switch" "$tests/inc-rank" "$tests/inc-flood"; do
	[ -x "$program" ] || without "$program is not built"
done
[ "$(id -u)" -eq 0 ] || without 'needs root for network namespaces'
for program in ip nft unshare; do
	command -v $program >/dev/null || without "needs the program $program"
done
ip netns add "$lab" 2>/dev/null || without 'network namespaces are not allowed'
if ! ip netns exec "$lab" true 2>/dev/null; then
	ip netns del "$lab"
	without 'network namespaces cannot be entered: the root here is no mount'
fi
ip netns del "$lab"

scratch=$(mktemp -d)
clean_up() {
	local status=$? process
	for process in "${job[@]}"; do
		kill -9 "$process" 2>/dev/null || true
	done
	if [ $status -ne 0 ] && [ $status -ne 77 ]; then
		tail -n 5 "$scratch"/lab/*.log "$scratch"/rank.* 2>/dev/null || true
		say "replay: DXP_BIN=$DXP_BIN $0"
	fi
	"$source/tools/lab" down "$lab" || status=1
	rm -rf "$scratch"
	exit $status
}
trap clean_up EXIT
trap 'exit 143' TERM INT

the_lab() { local what=$1; shift; "$source/tools/lab" "$what" "$lab" "$@"; }

# lab_make OPTION...: makes a lab that replaces the previous one.
lab_make() {
	the_lab up --dir "$scratch/lab" "$@" >"$scratch/up" 2>&1 || die "$(cat "$scratch/up")"
	hosts=$(the_lab status | grep -c '^h')
}

# has_kernel: whether XDP loads here. Needs a lab with --plane auto.
has_kernel() { grep -q 'short operations in XDP' "$scratch/lab/s0.log"; }

# kernel_wanted PLANE: reports a skip if PLANE is "auto" and XDP cannot load.
kernel_wanted() {
	[ "$1" != auto ] || has_kernel || left_out 'switches with XDP' 'XDP does not load here'
}

on() { local host=$1; shift; the_lab exec "$host" -- "$@"; }

# job_start HOSTS RANK:WORD... -- WORDS...: starts one member per host. A WORD before the dashes is
# only for this rank.
job_start() {
	local members=$1 i own=() word
	shift
	while [ "$1" != -- ]; do
		own+=("$1")
		shift
	done
	shift
	job=()
	port=$((20000 + RANDOM % 10000))
	for ((i = 0; i < members; i++)); do
		words=("$@")
		for word in "${own[@]}"; do
			[ "${word%%:*}" != "$i" ] || words+=("${word#*:}")
		done
		DXP_FAULT=$faults ip netns exec "$lab-h$i" env \
			DXP_INC_SWITCH="$(the_lab switch-of "h$i")" "$tests/inc-rank" "$i" \
			"$members" "10.77.0.1:$port" "${words[@]}" >"$scratch/rank.$i" 2>&1 &
		job+=($!)
	done
}

# job_end SECONDS: waits for all members, or fails. `statuses`: their exit statuses.
job_end() {
	local i pid end=$((SECONDS + $1))
	statuses=()
	for i in "${!job[@]}"; do
		pid=${job[i]}
		while [ -r "/proc/$pid/stat" ] && ! grep -qs ') Z ' "/proc/$pid/stat"; do
			[ $SECONDS -lt $end ] || die "member $i has not ended after $1 s"
			sleep 0.05
		done
		wait "$pid" && statuses+=(0) || statuses+=($?)
	done
	job=()
}

# job_good SECONDS: job_end, with every status 0.
job_good() {
	local i
	job_end "$1"
	for i in "${!statuses[@]}"; do
		[ "${statuses[i]}" -eq 0 ] ||
			die "member $i ended with ${statuses[i]}: $(cat "$scratch/rank.$i")"
	done
}

# count WORD [RANK]: prints the number after WORD in a member's last line; default rank 0.
count() {
	tail -n 1 "$scratch/rank.${2:-0}" | grep -o " $1 [0-9]*" | grep -o '[0-9]*$'
}

# is WORD VALUE: rank 0's last line must have this number after WORD.
is() {
	[ "$(count "$1")" -eq "$2" ] || die "$1 is not $2: $(cat "$scratch/rank.0")"
}

above() {
	[ "$(count "$1")" -gt "$2" ] || die "$1 is not above $2: $(cat "$scratch/rank.0")"
}

# switch_count ADDRESS NAME: prints a switch's counter, queried from h0. Repeated, because a flooded
# switch may not answer within 1 s.
switch_count() {
	local said
	for _ in {1..20}; do
		said=$(on h0 "$DXP_BIN/dxp" inc --switch "$1" --json |
			# prints the first match only
			sed -n "0,/^    \"$2\": \([0-9]*\).*/s//\1/p") || said=''
		[ -z "$said" ] || break
	done
	say "$said"
}

# grows WHAT COUNTER COMMAND...: s1's counter must grow while the command runs.
grows() {
	local what=$1 counter=$2 before after
	shift 2
	before=$(switch_count 10.77.0.242 "$counter")
	"$@"
	after=$(switch_count 10.77.0.242 "$counter")
	[ "$after" -gt "$before" ] || die "$what: $counter stayed $before"
	say "ok: $what: $counter went from $before to $after"
}
