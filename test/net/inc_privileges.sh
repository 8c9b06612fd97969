#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A switch started by root runs as another user, without unused capabilities, and computes, with XDP
# and without.
#
#   s0, h0, h1
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

# status_of NAME: prints a field of the switch's /proc/PID/status.
status_of() {
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$(cat "$scratch/lab/s0.pid")/status"
}

# check NAME VALUE: fails unless this field has the value.
check() {
	local value
	value=$(status_of "$1")
	[ "$value" = "$2" ] || die "$1 is '$value', not '$2'"
	say "ok: $1 $value"
}

# rights_are CAPABILITIES: checks the user ids and the capabilities of the switch.
rights_are() {
	check Uid "$nobody"$'\t'"$nobody"$'\t'"$nobody"$'\t'"$nobody"
	check CapPrm "$1"
	check CapEff "$1"
	for name in CapInh CapBnd CapAmb; do
		check $name 0000000000000000
	done
	check NoNewPrivs 1
}

works() {
	job_start 2 -- calls=100 need=1 deadline=20000 create=20000
	job_good 30
	is switch 100
	is wrong 0
}

nobody=$(id -u nobody) || without 'this machine has no user nobody'

say '== in user space'
lab_make --hosts 2 --plane user
rights_are 0000000000000000
works

say '== with XDP: CAP_NET_ADMIN and CAP_BPF'
lab_make --hosts 2
if has_kernel; then
	rights_are 0000008000001000
	works
else
	left_out 'a switch with XDP' 'XDP does not load here'
fi

say '== a user that does not exist'
status=0
on h0 timeout 120 "$DXP_BIN/dxp-switch" --address 10.77.0.1 --plane user --user no-such-user \
	>"$scratch/out" 2>&1 || status=$?
[ $status -eq 4 ] || die "status $status, not 4: $(cat "$scratch/out")"
grep -q "no user 'no-such-user'" "$scratch/out" || die "$(cat "$scratch/out")"

say passed
