#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Packets between hosts and switches are lost, duplicated, delayed and corrupted: every result is
# right, no group is lost.
#
#          s0
#        /    \          loss and doubling by nftables at the hosts (and switches, in user
#      s1      s2        space); the rest by DXP_FAULT in members and switches
#     h0 h1   h2 h3
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

# all_well NAME: no result is wrong, no group lost, and every operation used the switches.
all_well() {
	job_good 60
	is wrong 0
	is lost 0
	is tcp 0
	say "ok: $1: $(tail -n 1 "$scratch/rank.0")"
}

planes=(user)
lab_make --hosts 4
if has_kernel; then
	planes+=(kernel)
else
	left_out 'loss with XDP' "it does not load here: $(tail -n 1 "$scratch/lab/s0.log")"
fi

for plane in "${planes[@]}"; do
	say "== $plane"
	lab_make --hosts 4 --plane "$plane"
	job_start 4 -- calls=600
	all_well 'no fault'
	if [ "$plane" = kernel ]; then
		for ip in 10.77.0.241 10.77.0.242 10.77.0.243; do
			[ "$(switch_count $ip kernel_results)" -gt 0 ] ||
				die "$ip computes nothing in XDP"
		done
	fi
	for permille in 10 50 200; do
		the_lab loss $permille --switches
		job_start 4 -- calls=150 seed=$permille deadline=20000 create=20000
		all_well "$permille of 1000 packets lost"
		above repeated 0
	done
	the_lab loss 0
	the_lab dup 200 --switches
	job_start 4 -- calls=600 seed=5
	all_well '200 of 1000 packets doubled'
	the_lab loss 50 --switches
	job_start 4 -- calls=300 seed=6 deadline=20000 create=20000 groups=3
	all_well 'lost and doubled, three groups'
done

say '== late and changed packets too, at members and switches'
export DXP_FAULT=loss=2%,dup=5%,corrupt=1%,reorder=10%,seed=11
lab_make --hosts 4 --plane user
unset DXP_FAULT
faults=loss=2%,dup=5%,corrupt=1%,reorder=10%,seed=12
job_start 4 -- calls=400 longest=100000 deadline=20000 create=20000
all_well 'lost, doubled, late, changed'
faults=''
[ "$(switch_count 10.77.0.242 icrc_wrong)" -gt 0 ] || die 'no changed packet was noticed'
