#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests output for users: dxp inc and its self-test, options and errors of dxp-switch, with two
# spine switches.
#
#        s0    s1        two spines
#        |  \ / |
#        |  / \ |
#       s2      s3
#      h0 h1   h2 h3
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

# refuses STATUS TEXT COMMAND...: must fail so and print the text.
refuses() {
	local wanted=$1 text=$2 status=0
	shift 2
	timeout 120 "$@" >"$scratch/out" 2>&1 || status=$?
	[ $status -eq "$wanted" ] ||
		die "'$*' ended with $status, not $wanted: $(cat "$scratch/out")"
	grep -qF -- "$text" "$scratch/out" ||
		die "'$*' does not print '$text': $(cat "$scratch/out")"
	say "ok: $(tail -n 1 "$scratch/out")"
}

lab_make --hosts 4 --spines 2
dxp=$DXP_BIN/dxp
readonly on_h0=("$source/tools/lab" exec "$lab" h0 --)

say '== the tree, as a host sees it'
on h0 "$dxp" inc >"$scratch/inc"
for ip in 10.77.0.243 10.77.0.241 10.77.0.242; do
	grep -q "^switch .* at $ip" "$scratch/inc" || die "no $ip: $(cat "$scratch/inc")"
done
on h0 "$dxp" inc --json | has '"parents"' || die 'no JSON'

say '== the self-test'
refuses 0 'offload works' "${on_h0[@]}" "$dxp" inc test
refuses 1 'no answer' "${on_h0[@]}" "$dxp" inc test --switch 10.77.0.99
refuses 1 'no switch is configured' "$dxp" inc
refuses 1 'neither an IPv4 address' "$dxp" inc --switch here
refuses 1 'does not answer' "${on_h0[@]}" "$dxp" inc --switch 10.77.0.99
refuses 2 "unknown command 'dxp inc nothing'" "$dxp" inc nothing

say '== groups of several jobs over both spines'
job_start 4 -- calls=0 seconds=5 need=1 groups=4 create=20000 deadline=20000
for _ in {1..600}; do # at most 120 s
	on h0 "$dxp" inc groups >"$scratch/groups"
	[ "$(grep -c '^10.77.0.243 ' "$scratch/groups")" -lt 4 ] || break
	sleep 0.2
done
[ "$(grep -c '^10.77.0.243 ' "$scratch/groups")" -eq 4 ] || die "$(cat "$scratch/groups")"
for spine in 241 242; do
	grep -q "^10.77.0.243 .* 10.77.0.$spine " "$scratch/groups" ||
		die "no group goes over .$spine: $(cat "$scratch/groups")"
done
job_good 30
is wrong 0
is lost 0
say "ok: $(tail -n 1 "$scratch/rank.0")"

say '== dxp-switch, called wrongly'
switch=$DXP_BIN/dxp-switch
refuses 2 '--address is needed' "$switch"
refuses 2 'needs an IPv4 address' "$switch" --address 1.2.3
refuses 4 'no interface of this machine has the address' "$switch" --address 203.0.113.9
refuses 3 'another program uses this port' \
	"$source/tools/lab" exec "$lab" s0 -- "$switch" --address 10.77.0.241
refuses 2 '--parent equals --address' "$switch" --address 127.0.0.1 --parent 127.0.0.1
refuses 2 '--groups needs a number from 1 to 65536' "$switch" --address 127.0.0.1 --groups 0
for weights in 0:1 1:17 4 1:2:3 : 1: 111111:1 a:b; do
	refuses 2 '--weights is two numbers' "$switch" --address 127.0.0.1 --weights "$weights"
done
for modes in '' node, nodes socket,,flat; do
	refuses 2 '--modes is a list' "$switch" --address 127.0.0.1 --modes "$modes"
done
refuses 2 '--socket-priority needs a number from 0 to 6' \
	"$switch" --address 127.0.0.1 --socket-priority 7
refuses 2 '--segment is' "$switch" --address 127.0.0.1 --segment 300
printf '[dxp-switch]\naddress = 127.0.0.1\nparnt = 10.0.0.1\n' >"$scratch/conf"
refuses 2 ":3: unknown key 'parnt' in [dxp-switch]" "$switch" --config "$scratch/conf"
refuses 2 'cannot read' "$switch" --config "$scratch/none"
refuses 4 'has no XDP program of dxp-switch' "$switch" remove lo
the_lab exec s2 -- "$switch" list >"$scratch/list"
if has_kernel; then
	grep -q '^h0 .*generic' "$scratch/list" || die "$(cat "$scratch/list")"
	the_lab exec s2 -- "$switch" remove h0
	the_lab exec s2 -- "$switch" list | has '^h0 ' && die 'it is there still'
	say 'ok: listed and removed'
else
	left_out 'XDP programs listed and removed' 'XDP does not load here'
fi
