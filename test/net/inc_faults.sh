#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Switches and members exit during operations: no result is wrong, all members get the same status,
# deadlines hold, and the job continues.
#
#          s0
#        /    \
#      s1      s2
#     h0 h1   h2 h3
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

# in_time MS: each member's slowest operation must take less.
in_time() {
	local i
	for ((i = 0; i < 4; i++)); do
		[ -z "$(count slowest_ms $i)" ] || [ "$(count slowest_ms $i)" -le "$1" ] ||
			die "a call took $(count slowest_ms $i) ms: $(cat "$scratch/rank.$i")"
	done
}

# grouped: waits until the leaf has the job's group and some operations.
grouped() {
	local count
	for _ in {1..1200}; do # at most 120 s
		count=$(switch_count 10.77.0.242 groups)
		[ "${count:-0}" -eq 0 ] || break
		sleep 0.1
	done
	[ "${count:-0}" -gt 0 ] || die "no group: $(cat "$scratch/rank.0")"
	sleep 0.5
}

# used_again: waits up to 30 s for contributions at the leaf.
used_again() {
	local counter count
	for _ in {1..150}; do
		for counter in contributions kernel_contributions; do
			count=$(switch_count 10.77.0.242 $counter)
			[ "${count:-0}" -eq 0 ] || return 0
		done
		sleep 0.2
	done
	die 'the switches were not used again'
}

# job_stop: sends the signal to rank 0, which stops all members.
job_stop() {
	kill -TERM "${job[0]}"
	job_good 40
}

for plane in user auto; do
	for dead in s1 s0; do
		say "== $plane: $dead is killed and comes back"
		lab_make --hosts 4 --plane $plane
		[ $dead != s1 ] || kernel_wanted $plane
		job_start 4 -- calls=0 seconds=120 deadline=500 again=1 create=1000
		grouped
		the_lab switch $dead kill
		sleep 1.5
		the_lab switch $dead start
		# a restart of s0 keeps s1's counters
		[ $dead != s1 ] || used_again
		[ $dead != s0 ] || sleep 2
		job_stop
		is wrong 0
		above lost 0
		above tcp 0
		in_time 3000
		say "ok: $(tail -n 1 "$scratch/rank.0")"
		used_again
	done
done

say '== a switch that is ended properly'
lab_make --hosts 4
job_start 4 -- calls=0 seconds=120 deadline=500
grouped
the_lab switch s1 stop
sleep 1
job_stop
is wrong 0
is lost 1
in_time 3000
say "ok: $(tail -n 1 "$scratch/rank.0")"

say '== a member is killed'
lab_make --hosts 4
job_start 4 2:die=200 -- calls=1000 deadline=500
job_end 20
[ "${statuses[2]}" -eq 137 ] || die "member 2 ended with ${statuses[2]}"
for i in 0 1 3; do
	# 3: noticed through TCP that another member exited
	[ "${statuses[i]}" -eq 3 ] ||
		die "member $i ended with ${statuses[i]}: $(cat "$scratch/rank.$i")"
	grep -q ' wrong 0 ' "$scratch/rank.$i" || die "$(cat "$scratch/rank.$i")"
done
in_time 3000
say "ok: $(tail -n 1 "$scratch/rank.0")"

say '== no switch at all'
lab_make --hosts 2 --leaves 1 --no-switches
job_start 2 -- calls=50 create=500
job_good 20
is refused 1
is tcp 50
say "ok: $(head -n 1 "$scratch/rank.0")"
