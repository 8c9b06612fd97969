#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Independent processes use functions of dxpd's NIC. `dxp vf` lists, limits, and resets them in use;
# a killed process releases its function.
#
#   dxpd daemon1: xpu1 --- its NIC --- function-user sink       vf1
#                           +------ function-user stream     vf2, vf3 ... limited, reset, killed
#   dxp vf -----------------+
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

user=$(cd "$DXP_BIN/../test" && pwd)/function-user
[ -x "$user" ] || { echo "skipped: $user is not built"; exit 77; }
export LD_LIBRARY_PATH=$DXP_BIN/../lib

users=()
ours() { echo "${users[@]}"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

# field NIC FUNCTION[.QP] NAME: prints a field of `dxp vf --json`.
field() {
	local qp=0
	[ "${2%.*}" = "$2" ] || qp=${2#*.}
	dxp vf "$1" --json | tr -d ' \n' |
		sed "s/.*{\"function\":${2%.*},\"qp\":$qp,\([^{]*{[^}]*}\).*/\1/
		s/.*\"$3\":\"\{0,1\}\([^,\"}]*\).*/\1/"
}

# start WORD ARGUMENT...: starts function-user and waits until it prints WORD.
start() {
	local word=$1
	shift
	: >"$scratch/user" # otherwise the wait could find the text of an earlier program
	"$user" "$@" >"$scratch/user" 2>&1 &
	last=$!
	users+=("$last")
	for _ in {1..2400}; do # at most 120 s
		! grep -q "^$word" "$scratch/user" || return 0
		sleep 0.05
	done
	die "'$*' did not print '$word' but: $(cat "$scratch/user")"
}

# free_again NIC FUNCTION: waits until the function is free.
free_again() {
	for _ in {1..6000}; do # at most 120 s
		[ "$(field "$1" "$2" state)" != free ] || return 0
		sleep 0.02
	done
	die "function $2 is $(field "$1" "$2" state)"
}

# mapped: prints the number of other processes' memories that the daemon has mapped.
mapped() {
	grep -c /memfd: "/proc/$daemon/maps" || true
}

# moved FUNCTION: prints the bytes sent in 0.5 s, divided by the longest time covered, because
# queries take long on a loaded machine.
moved() {
	local before begin
	begin=${EPOCHREALTIME/./}
	before=$(field xpu1 "$1" sent_bytes)
	sleep 0.5
	echo $((($(field xpu1 "$1" sent_bytes) - before) * 500000 / (${EPOCHREALTIME/./} - begin)))
}

# moves FUNCTION LEAST MOST: the bytes in 0.5 s must be in the range; repeated, because others may
# occupy the machine. Sets `bytes`.
moves() {
	for _ in {1..10}; do
		bytes=$(moved "$1")
		[ "$bytes" -lt "$2" ] || [ "$bytes" -gt "$3" ] || return 0
	done
	return 1
}

say "== wrong use"
refuse 1 'no NIC on this machine offers functions' dxp vf
refuse 1 "no NIC named 'xpu1'" dxp vf xpu1
refuse 1 'start some with' dxp vf xpu1
refuse 2 '--functions needs a number from 0 to 7' dxpd --manager 127.0.0.1 --key x --functions 8
refuse 2 "beginning with '/'" dxpd --manager 127.0.0.1 --key x --run here
dxp up --port 0 >/dev/null
daemon=$(process_of daemon1)
refuse 1 'NICs on this machine: xpu1, xpu2' dxp vf nobody
refuse 2 'unknown command `dxp vf frob`' dxp vf frob xpu1
refuse 2 'needs a NIC, a function and a value' dxp vf weight xpu1 1
refuse 2 "a function is 0 to 7, not '8'" dxp vf reset xpu1 8
refuse 2 "a queue pair is 0.0 to 7.3, not '1.4'" dxp vf registers xpu1 1.4
refuse 2 '`dxp vf weight` is for a whole function: 1, not 1.2' dxp vf weight xpu1 1.2 3
refuse 1 'queue pair 1.2 has no user' dxp vf registers xpu1 1.2
refuse 2 "not 'fast'" dxp vf limit xpu1 1 fast
refuse 2 'a weight is 1 to 64' dxp vf weight xpu1 1 65
refuse 2 'a priority is `high` or `normal`' dxp vf priority xpu1 1 64
refuse 1 'function 1 has no user' dxp vf reset xpu1 1
refuse 1 "belongs to the NIC's own program" dxp vf reset xpu1 0
refuse 1 'no NIC listens at' dxp vf "$scratch/nothing/there"

say "== a list of all"
dxp vf >"$scratch/list"
[ "$(grep -c ' free ' "$scratch/list")" -eq 14 ] || die "not 14 free: $(cat "$scratch/list")"
[ "$(stat -c %a "$DXP_RUN/xpu1.nic" "$DXP_RUN/xpu1.nic/nic" | tr '\n' ' ')" = '700 600 ' ] ||
	die "others may enter: $(ls -lR "$DXP_RUN")"
nothing=$(mapped)

say "== an overrun of the doorbells is an error, until the function is reset"
start 'overrun: DXP_EOVERRUN' overrun xpu1 careless
overran=$last
[ "$(field xpu1 1 state) $(field xpu1 1 error)" = 'stopped DXP_EOVERRUN' ] || die "$(dxp vf xpu1)"
dxp vf xpu1 | has 'stopped careless .* DXP_EOVERRUN$' || die "$(dxp vf xpu1)"
dxp vf reset xpu1 1
status=0
wait "$overran" || status=$?
[ $status -eq 3 ] || die "its user exited with $status"
expect 'closed: DXP_ECLOSED' "$scratch/user"
free_again xpu1 1

say "== two processes stream into the memory of a third"
start ready sink xpu1 sink
sink=$last
start streaming stream xpu1 left sink
left=$last
start streaming stream xpu1 right sink
right=$last
[ "$(field xpu1 2 label)" = left ] || die "$(dxp vf xpu1)"
[ "$(field xpu1 3 pid)" = "$right" ] || die "$(dxp vf xpu1)"
[ "$(field xpu1 1 mapped_bytes)" = 1048576 ] || die "$(dxp vf xpu1 --json)"
dxp vf registers xpu1 1 | has '^total [1-9]' || die "nothing placed"
moves 2 1 1000000000000 || die "function 2 does not move"
moves 3 1 1000000000000 || die "function 3 does not move"

say "== one has priority"
dxp vf priority xpu1 3 high
[ "$(field xpu1 2 priority) $(field xpu1 3 priority)" = 'normal high' ] || die "$(dxp vf xpu1)"
dxp vf xpu1 | has "right *$right *1 high " || die "$(dxp vf xpu1)"
moves 2 1 1000000000000 || die "function 2 starves"
dxp vf priority xpu1 3 normal

say "== one is limited"
dxp vf limit xpu1 3 8M
moved 3 >/dev/null # uses up the tokens that the function has saved
moves 3 2000000 6000000 || die "8 MiB/s: $bytes bytes in 0.5 s"
dxp vf limit xpu1 3 none
moves 3 6500000 1000000000000 || die "without a limit: $bytes bytes in 0.5 s"

say "== one is reset while in use"
dxp vf reset xpu1 3
status=0
wait "$right" || status=$?
[ $status -eq 3 ] || die "its user ended with $status"
expect DXP_ECLOSED "$scratch/user"
free_again xpu1 3
moves 2 1 1000000000000 || die "the other one stands still"

say "== others are killed in the middle of their transfers"
for _ in 1 2 3 4 5; do
	start streaming stream xpu1 victim sink
	[ "$(field xpu1 3 label)" = victim ] || die "$(dxp vf xpu1)"
	kill -9 "$last"
	wait "$last" 2>/dev/null || true
	free_again xpu1 3
done
moves 2 1 1000000000000 || die "the other one stands still"
runs "$sink" || die "the sink is gone"
kill -9 "$left" "$sink"
wait "$left" "$sink" 2>/dev/null || true
free_again xpu1 1
free_again xpu1 2
[ "$(mapped)" -eq "$nothing" ] || die "$(mapped) mappings stay, $nothing before"
runs "$daemon" || die "the daemon is gone"

say "== processes share a function: a queue pair each"
offered=$DXP_RUN/xpu1.nic
start ready sink "$offered/vf5.0" qp-sink
sink=$last
start streaming stream "$offered/vf5.2" qp-left qp-sink
left=$last
start streaming stream "$offered/vf5.3" qp-right qp-sink
right=$last
dxp vf xpu1 >"$scratch/list"
has "xpu1 *5.0 open *qp-sink *$sink " <"$scratch/list" || die "$(cat "$scratch/list")"
has 'xpu1 *5.1 free ' <"$scratch/list" || die "$(cat "$scratch/list")"
has "xpu1 *5.3 open *qp-right *$right " <"$scratch/list" || die "$(cat "$scratch/list")"
[ "$(field xpu1 5.2 label)" = qp-left ] || die "$(dxp vf xpu1 --json)"
dxp vf registers xpu1 5.0 | has '^total [1-9]' || die "nothing placed"
status=0
"$user" sink "$offered/vf5.3" other >"$scratch/user" 2>&1 || status=$?
[ $status -eq 3 ] || die "a queue pair was given twice: $(cat "$scratch/user")"
expect 'in use' "$scratch/user"
kill -9 "$right"
wait "$right" 2>/dev/null || true
free_again xpu1 5.3
moves 5.2 1 1000000000000 || die "the sibling of a killed process stands still"
start 'overrun: DXP_EOVERRUN' overrun "$offered/vf5.3" careless
overran=$last
[ "$(field xpu1 5.3 state) $(field xpu1 5.2 state)" = 'stopped open' ] || die "$(dxp vf xpu1)"
moves 5.2 1 1000000000000 || die "the sibling of a stopped process stands still"
dxp vf reset xpu1 5
for last in "$sink" "$left" "$overran"; do
	status=0
	wait "$last" || status=$?
	[ $status -eq 3 ] || die "process $last ended with $status"
done
free_again xpu1 5
[ "$(mapped)" -eq "$nothing" ] || die "$(mapped) mappings stay, $nothing before"

say "== a killed daemon leaves sockets that its successor replaces"
dxp down >/dev/null
[ -z "$(ls "$DXP_RUN")" ] || die "sockets stay: $(ls -R "$DXP_RUN")"
dxp up --port 0 >/dev/null
daemon=$(process_of daemon1)
kill -9 "$daemon"
while runs "$daemon"; do
	sleep 0.02
done
refuse 1 'has exited' dxp vf xpu1
dxp down >/dev/null 2>&1 || true
dxp up --port 0 >/dev/null
[ "$(field xpu1 1 state)" = free ] || die "$(dxp vf xpu1)"
say ok
