#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The compatible format: jobs with the source paper's header run with others on the same switches,
# with and without loss. Also the modes that switches accept.
#
#            s0
#          /    \
#        s1      s2
#       h0 h1   h2 h3       a job of each format
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

compat=(compat=1 plain=1 kinds=7 longest=256 create=20000 deadline=20000)
readonly compat

# beside_start HOST...: starts a job with the widened header, one member per host.
beside_start() {
	local port=$((30000 + RANDOM % 10000)) i=0 host
	beside=()
	for host; do
		DXP_INC_SWITCH=$(the_lab switch-of "$host") ip netns exec "$lab-$host" \
			"$tests/inc-rank" $i $# "10.77.0.$((${1#h} + 1)):$port" calls=0 seconds=6 \
			create=20000 deadline=20000 >"$scratch/beside.$i" 2>&1 &
		beside+=($!)
		i=$((i + 1))
	done
}
beside_good() {
	local pid
	for pid in "${beside[@]}"; do
		wait "$pid" || die "beside: $(cat "$scratch"/beside.*)"
	done
	tail -n 1 "$scratch/beside.0" | has " lost 0 .* wrong 0 " ||
		die "beside: $(cat "$scratch/beside.0")"
}

for plane in user auto; do
	say "== both formats, plane $plane"
	lab_make --hosts 4 --plane $plane
	kernel_wanted $plane
	beside_start h0 h1 h2 h3
	job_start 4 -- calls=0 seconds=5 need=1 "${compat[@]}"
	job_good 60
	beside_good
	is wrong 0
	is lost 0
	is tcp 0
	above switch 100
	say "ok: $(tail -n 1 "$scratch/rank.0")"
	say "ok: beside: $(tail -n 1 "$scratch/beside.0")"
done

say '== loss'
lab_make --hosts 4 --plane user
the_lab loss 30 >/dev/null
job_start 4 -- calls=500 need=1 "${compat[@]}"
job_good 90
is wrong 0
is tcp 0
above repeated 0
say "ok: $(tail -n 1 "$scratch/rank.0")"

# refused TEXT: rank 0 must have printed this reason of the rejection.
refused() {
	grep -q "^refused: .*$1" "$scratch/rank.0" || die "no '$1': $(cat "$scratch/rank.0")"
	say "ok: $(head -n 1 "$scratch/rank.0")"
}

say '== modes'
lab_make --hosts 4 --plane user --switch-options '--modes socket,flat'
job_start 4 -- calls=20 mode=0 "${compat[@]}"
job_good 60
refused "does not support the group's mode"
job_start 4 -- calls=20 need=1 mode=1 "${compat[@]}"
job_good 60
is tcp 0
# the widened format has no modes, so `mode` has no effect
job_start 4 -- calls=20 need=1 mode=0 create=20000 deadline=20000
job_good 60
is tcp 0

say '== mode Node with two members of one host'
lab_make --hosts 2 --plane user --leaves 1
port=$((20000 + RANDOM % 10000))
for mode in 0 1; do
	for i in 0 1; do
		DXP_INC_SWITCH=$(the_lab switch-of h0) ip netns exec "$lab-h0" \
			"$tests/inc-rank" $i 2 "10.77.0.1:$((port + mode))" calls=20 mode=$mode \
			"${compat[@]}" >"$scratch/rank.$i" 2>&1 &
		job+=($!)
	done
	job_good 60
	if [ $mode -eq 0 ]; then
		refused "does not support the group's mode"
	else
		is tcp 0
	fi
done
say passed
