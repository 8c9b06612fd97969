#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# h3 floods the switches with invalid packets: each kind is counted, no result is wrong, no group is
# lost.
#
#          s0
#        /    \
#      s1      s2        h3: inc-flood to s1
#     h0 h1   h2 h3
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

leaf=10.77.0.242

flood() { on h3 "$tests/inc-flood" "$1" "$leaf" 1 "${@:2}" >"$scratch/flood"; }

group_id() {
	on h0 "$DXP_BIN/dxp" inc groups |
		awk '$1 == "10.77.0.242" && !n++ { sub(/\./, " ", $2); print $2 }'
}

# shellcheck disable=SC2086 # id and epoch are two words
for plane in user auto; do
	say "== plane $plane"
	lab_make --hosts 4 --plane $plane
	kernel_wanted $plane
	job_start 3 -- seconds=9 calls=0 deadline=20000
	for _ in {1..1200}; do # at most 120 s
		group=$(group_id)
		[ -z "$group" ] || break
		sleep 0.1
	done
	[ -n "$group" ] || die 'no group at the leaf'
	grows 'garbage' foreign flood garbage
	grows 'RoCEv2 of others' foreign flood foreign
	grows 'a wrong ICRC' icrc_wrong flood icrc
	grows 'data of a group that is not here' refused flood data
	grows "data of another job's group" refused flood data ${group}
	grows 'a stranger ends the group' received flood kill ${group}
	grows "queries in another host's name" received flood forged
	grows 'questions without end' limited flood inquire
	job_good 90
	is wrong 0
	is lost 0
	is tcp 0
	say "ok: meanwhile: $(tail -n 1 "$scratch/rank.0")"
	on h0 "$DXP_BIN/dxp" inc refusals | tail -n +2
done
