#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/lab stops no process that got the process id of an ended switch.
#
#   s0, h0
# shellcheck source=test/net/lib_inc.sh
. "$(dirname "$0")/lib_inc.sh"

# state: prints what the lab reports about the process of s0.
state() { the_lab status | sed -n 's/^s0 .* dxp-switch //p'; }

lab_make --hosts 1 --plane user
switch=$(cat "$scratch/lab/s0.pid")
[ "$(state)" = "$switch" ] || die "the lab reports '$(state)', not process $switch"
say "ok: process $switch"

kill -9 "$switch"
for _ in {1..2400}; do # at most 120 s
	[ "$(state)" != 'not running' ] || break
	sleep 0.05
done
[ "$(state)" = 'not running' ] || die "the lab reports '$(state)' after the end of process $switch"
say 'ok: an ended switch'

sleep 600 &
other=$!
job=("$other")
echo "$other" >"$scratch/lab/s0.pid"
[ "$(state)" = 'not running' ] || die "the lab takes process $other for a switch"
the_lab switch s0 stop
the_lab switch s0 kill
kill -0 "$other" || die 'the lab has ended another process'
the_lab switch s0 start
[ "$(state)" = "$(cat "$scratch/lab/s0.pid")" ] || die 'the switch does not start again'
the_lab switch s0 stop
[ "$(state)" = 'not running' ] || die 'the switch does not stop'
say passed
