#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the limits of a switch for groups and memory, and that it reclaims abandoned groups.
#
#          s0
#        /    \
#      s1      s2        2 groups at each, leases of 1 s
#     h0 h1   h2 h3
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

groups_now() { switch_count 10.77.0.242 groups; }

groups_reach() { # COUNT SECONDS
	local i
	for ((i = 0; i < $2 * 10; i++)); do
		[ "$(groups_now)" -ne "$1" ] || return 0
		sleep 0.1
	done
	die "the leaf has $(groups_now) groups, not $1, after $2 s"
}

lab_make --hosts 4 --switch-options '--groups 2 --lease 3'

say '== two jobs want three groups where two are'
job_start 4 -- groups=3 calls=300 deadline=20000 create=20000
job_good 30
is refused 1
is wrong 0
is switch 200
is tcp 100
grep -q '^refused: .*no free group' "$scratch/rank.0" || die "$(cat "$scratch/rank.0")"
on h0 "$DXP_BIN/dxp" inc refusals | has 'no free group' ||
	die 'dxp inc refusals does not list it'
say "ok: $(head -n 1 "$scratch/rank.0")"
groups_reach 0 5

say '== members that end without a word: the lease gives the groups back'
job_start 4 -- groups=2 calls=20 abandon=1 deadline=20000 create=20000
job_good 30
groups_reach 2 1
groups_reach 0 15
[ "$(switch_count 10.77.0.242 expired)" -gt 0 ] || die 'no lease ended'
job_start 4 -- groups=2 calls=100 need=1 deadline=20000 create=20000
job_good 30
is switch 100
say 'ok: and they can be had again'

say '== members that compute for long keep their group'
job_start 4 2:sleep=7000 -- calls=50 need=1 deadline=4000 create=20000
job_good 30
is switch 50
is lost 0
say "ok: $(tail -n 1 "$scratch/rank.0")"

say '== a switch that is drained takes no new groups, and ends with the last'
job_start 4 -- calls=0 seconds=4 need=1 create=20000 deadline=20000
groups_reach 1 10
leaf=$(cat "$scratch/lab/s1.pid")
kill -USR1 "$leaf"
sleep 0.3
[ "$(groups_now)" -eq 1 ] || die 'the group is gone'
job_good 30
is lost 0
for _ in {1..1200}; do # at most 120 s
	[ -r "/proc/$leaf/stat" ] && ! grep -q ') Z ' "/proc/$leaf/stat" || break
	sleep 0.1
done
[ ! -r "/proc/$leaf/stat" ] || grep -q ') Z ' "/proc/$leaf/stat" || die 'it goes on'
say 'ok: it ended with its last group'

say '== memory for no slot'
lab_make --hosts 2 --leaves 1 --switch-options '--memory 1M --window 1024'
job_start 2 -- groups=2 calls=20 create=20000 deadline=20000
job_good 30
is wrong 0
grep -q '^refused: .*no memory' "$scratch/rank.0" || die "$(cat "$scratch/rank.0")"
say "ok: $(head -n 1 "$scratch/rank.0")"
