#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every command and program with a full disk as standard output, and with descriptor 0, 1 or 2
# closed. Lost text must be an error with a message. A closed descriptor changes nothing else, and
# no file or socket gets its number.
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd daemon1: xpu1
#                    +--- dxpd daemon2: xpu2
#   +--- dxp-switch   only with a network namespace of its own, because its port is fixed
if [ -z "${OUTPUT_NAMESPACE:-}" ] && unshare -n ip link set lo up 2>/dev/null; then
	export OUTPUT_NAMESPACE=1
	# shellcheck disable=SC2016 # $0 is of the inner shell
	exec unshare -n bash -c 'ip link set lo up && exec "$0"' "$0"
fi
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
started=''
ours() { echo "$started"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
cd "$scratch"

# as HOW COMMAND...: writes output to files out and err, and sets $status. A time limit stops
# hanging commands.
as() {
	local how=$1
	shift
	status=0
	: >out
	: >err
	case $how in
	plain) timeout 120 "$@" </dev/null >out 2>err || status=$? ;;
	full) timeout 120 "$@" </dev/null >/dev/full 2>err || status=$? ;;
	no_0) timeout 120 "$@" <&- >out 2>err || status=$? ;;
	no_1) timeout 120 "$@" </dev/null >&- 2>err || status=$? ;;
	no_2) timeout 120 "$@" </dev/null >out 2>&- || status=$? ;;
	none) timeout 120 "$@" <&- >&- 2>&- || status=$? ;;
	esac
}

# is WANTED WHAT: the last status must be WANTED.
is() {
	[ "$status" -eq "$1" ] || die "$2 ended with $status, not $1: $(cat out err)"
}

# full COMMAND...: must fail on a full disk and name the cause.
full() {
	as full "$@"
	is 1 "'$*' >/dev/full"
	[ "$(grep -c 'standard output' err)" -eq 1 ] ||
		die "'$*' >/dev/full does not name the cause once: $(cat err)"
}

# each [WORD=VALUE] COMMAND...: runs normally, with a full disk, with closed descriptors.
each() {
	local how wanted lines job
	as plain "$@"
	wanted=$status
	[ "$wanted" -ne 124 ] || die "'$*' does not end"
	[ "$wanted" -eq 0 ] || [ "$2" = doctor ] || die "'$*' ended with $wanted: $(cat out err)"
	lines=$(wc -l <out)
	if [ "$lines" -gt 0 ]; then
		full "$@"
	else
		as full "$@"
		is "$wanted" "'$*' >/dev/full, which writes nothing,"
	fi
	local jobs=()
	for how in $closed; do
		one "$@" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || die "'$*' with a descriptor closed, see above"
	done
}

# one COMMAND...: runs with the descriptors in $how closed, in parallel with others, each in its own
# folder.
one() {
	trap - EXIT
	mkdir -p "$how"
	cd "$how" || return 1
	as "$how" "$@"
	if [ "$status" -ne "$wanted" ]; then
		say "'$*' with $how ended with $status, not $wanted: $(cat out err)"
		return 1
	fi
	case $how in
	no_0 | no_2)
		if [ "$lines" -gt 0 ] && [ ! -s out ]; then
			say "'$*' with $how writes nothing"
			return 1
		fi
		;;
	esac
}

# dropped PID: its descriptors 0, 1 and 2 must be /dev/null.
dropped() {
	local fd
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ] ||
			die "$2 has $(readlink "/proc/$1/fd/$fd") as descriptor $fd"
	done
}

# open_fds PID: prints its number of descriptors; 0 after exit.
open_fds() {
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}

# works PID PROGRAM: whether it runs this program, no longer the shell, and has sockets.
works() {
	[[ $(readlink "/proc/$1/exe") == */$2 && $(open_fds "$1") -gt 4 ]]
}

say '== the programs beside dxp'
for program in dxp-manager dxpd dxp-switch dxp-web; do
	[ -x "$DXP_BIN/$program" ] || continue
	closed='none' each $program --help
	closed='no_1' each $program --version
done
mkdir "$DXP_DIR"
key=$DXP_DIR/fabric.key
dxp-manager --key "$key" --new-key --state state --bind 127.0.0.1:0 --ready-fd 5 \
	<&- >&- 2>&- 5>address &
manager=$!
started="$manager $started"
until_ok test -s address
dropped $manager dxp-manager
cp address "$DXP_DIR/manager"
dxpd --manager "$(cat address)" --key "$key" --memory 16M --slots 2 --engine none \
	--ready-fd 5 <&- >&- 2>&- 5>joined &
daemon=$!
started="$daemon $started"
until_ok test -s joined
dropped $daemon dxpd
dxp nodes | has ' xpu2 ' || die 'the daemon did not join'
kill $daemon $manager
wait $daemon || die "dxpd ended with $?"
wait $manager || die "dxp-manager ended with $?"
: >err # otherwise the next wait could find the text of an earlier program
dxp-manager --key "$key" --state state --bind 127.0.0.1:0 >/dev/full 2>err &
manager=$!
started=$manager
until_ok grep -q 'standard output' err
kill $manager
status=0
wait $manager || status=$?
is 1 'dxp-manager >/dev/full'
started=''
rm -r "$DXP_DIR"

if [ -n "${OUTPUT_NAMESPACE:-}" ]; then
	dxp-switch --address 127.0.0.1 --plane user --ready-fd 5 <&- >&- 2>&- 5>ready &
	started=$!
	until_ok test -s ready
	dropped "$started" dxp-switch
	export DXP_INC_SWITCH=127.0.0.1
else
	left_out dxp-switch 'network namespaces are not allowed'
fi

say '== every command that dxp --help lists'
head -c 5000 /dev/urandom >data
each_up() {
	full dxp up --xpus 2 --memory 16M --engine none --port 0
	dxp down >out
	closed='' each dxp down --help
	as none dxp up --xpus 2 --memory 16M --engine none --grants explicit --port 0
	is 0 "dxp up with none"
	for name in xpu1 xpu2; do
		dxp grant '*' $name
	done
	name=up
}
each_get() {
	local how
	for how in plain full no_0 no_1 no_2 none; do
		rm -f got
		as $how dxp get xpu1 0 5000 got
		is 0 "dxp get to a file with $how"
		cmp data got
	done
	full dxp get xpu1 0 5000
	as no_1 dxp get xpu1 0 5000
	is 1 'dxp get to standard output that is closed'
	expect 'standard output is closed' err
}
each_put() {
	each dxp put xpu1 0 "$scratch/data"
	as no_0 dxp put xpu1 0 -
	is 1 'dxp put of standard input that is closed'
	expect 'standard input is closed' err
}
each_trace() {
	local pid
	# other tests may have nodes of the same name
	pid=$(process_of daemon1)
	closed='none' each dxp trace --pid "$pid" --count 1 --output capture
	full dxp trace --pid "$pid" --count 1
	as no_1 dxp trace --pid "$pid" --count 1
	is 1 'dxp trace to standard output that is closed'
	expect 'standard output is closed' err
}
each_inc() {
	[ -n "${DXP_INC_SWITCH:-}" ] || return 0
	for section in '' groups refusals; do
		# shellcheck disable=SC2086 # $section may be empty, and is then no argument
		each dxp inc $section
	done
}
# tokens_begin: starts a fabric that admits by token, of operator folder `$tokens`.
readonly tokens=$scratch/tokens
tokens_begin() {
	[ -d "$tokens" ] || dxp manager init --dir "$tokens" --bind 127.0.0.1 --port 0 >init
}
each_manager() {
	local how
	tokens_begin
	closed='none' each dxp manager init --dir "$tokens"
	dxp down --dir "$tokens" >out
	full dxp manager export --dir "$tokens" "$scratch/export"
	for how in $closed; do
		rm "$scratch/export"
		as "$how" dxp manager export --dir "$tokens" "$scratch/export"
		is 0 "dxp manager export with $how"
		as "$how" dxp manager import "$scratch/export" --key "$tokens/fabric.key" \
			--state "$scratch/import-$how"
		is 0 "dxp manager import with $how"
	done
	full dxp manager import "$scratch/export" --key "$tokens/fabric.key" \
		--state "$scratch/import-full"
	dxp manager init --dir "$tokens" --bind 127.0.0.1 --port 0 >init
}
each_join() {
	local manager token
	tokens_begin
	manager=$(sed -n 's/^ *dxp join //p' init)
	token=$(dxp token --dir "$tokens" --uses 2 create)
	full dxp join --dir "$scratch/one" --name one "${manager% *}" "$token"
	as none dxp join --dir "$scratch/two" --name two "${manager% *}" "$token"
	is 0 'dxp join with none'
}
each_token() {
	tokens_begin
	each dxp token --dir "$tokens" create
	each dxp token --dir "$tokens" list
}
each_context() {
	local -r state=XDG_STATE_HOME=$scratch/state
	each env "$state" dxp context list
	full env "$state" dxp context add one "$scratch"
	each env "$state" dxp context use one
	full env "$state" dxp context remove one
}
each_keys() {
	tokens_begin
	each dxp keys --dir "$tokens" show
	full dxp keys --dir "$scratch/one" rotate
	as none dxp keys --dir "$scratch/one" rotate
	is 0 'dxp keys rotate with none'
	full dxp keys --dir "$tokens" rotate --fabric --overlap 0
	full dxp keys --dir "$tokens" fetch
}
each_job() {
	tokens_begin
	closed='none' each dxp job --dir "$tokens" end absent
	full dxp job --dir "$tokens" end absent --json
}
each_node() {
	tokens_begin
	full dxp node --dir "$tokens" remove two
}
closed='no_0 no_1 no_2 none'
commands=$(dxp --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 18 ] || die "dxp --help lists: $commands"
for name in $commands; do
	begin=$(date +%s%N)
	full dxp "$name" --help
	full dxp help "$name"
	case $name in
	up | put | get | trace | inc | manager | job | join | token | node) each_"$name" ;;
	keys | context) each_"$name" ;;
	down) ;; # tested at the end
	nodes | version | metrics) each dxp "$name" ;;
	config) each dxp config show ;;
	doctor) closed='none' each dxp doctor ;;
	reg) each dxp reg xpu1 ;;
	bridge) ;; # needs a board; the same function as in other commands checks its output
	ping) each dxp ping xpu1 --count 10 ;;
	run) each dxp run -- true ;;
	grant | revoke) closed='none' each dxp "$name" host1 xpu1 ;;
	grants) closed='none' each dxp grants ;;
	events) closed='none' each dxp events ;;
	paths) each dxp paths ;;
	web) each dxp web open ;;
	top) each dxp top --once --interval 100 ;;
	vf) each dxp vf && each dxp vf registers xpu1 0 ;;
	bench) each dxp bench && each dxp bench sim --help ;;
	model) each dxp model && each dxp model tags && each dxp model parameters ;;
	*) die "dxp has a new command '$name', which this test does not run yet" ;;
	esac
	if dxp "$name" --help | has -e --json; then
		case $name in
		up | down | get | inc | bridge | bench | manager | job | join | node) ;;
		token) full dxp token --json --dir "$tokens" list ;;
		context) full env "XDG_STATE_HOME=$scratch/state" dxp context --json list ;;
		keys) full dxp keys --json --dir "$tokens" show ;;
		model) full dxp model tags --json ;;
		config) full dxp config show --json ;;
		put) full dxp put --json xpu1 0 data ;;
		reg | ping) full dxp "$name" --json xpu1 ;;
		run) as full dxp run --json -- true ;;
		grant | revoke) full dxp "$name" --json host1 xpu1 ;;
		web) full dxp web open --json ;;
		*) full dxp "$name" --json ;;
		esac
	fi
	say "ok: $name, $((($(date +%s%N) - begin) / 1000000)) ms"
done
full dxp
full dxp --version
dxp ping xpu1 --count 10000000 <&- >&- 2>&- &
started="$! $started"
until_ok works $! dxp
dropped $! 'dxp ping'
kill $!

say '== a reader that ends early'
exec 6> >(true)
wait $!
as plain bash -c 'dxp nodes >&6'
is 141 'dxp nodes into a pipe that is closed' # 128 and the number of SIGPIPE
as plain bash -c 'trap "" PIPE; dxp nodes >&6'
is 1 'dxp nodes into a pipe that is closed, with SIGPIPE ignored'
expect 'Broken pipe' err
exec 6>&-
dxp down
[ ! -d "$tokens" ] || DXP_DIR=$tokens dxp down

say '== an example: a program that has 0, 1 and 2 from the library alone'
# example COMMAND...: with standard output closed, output must fail with an error, and no socket may
# get it.
example() {
	local how
	[ -x "$DXP_BIN/$1" ] || return 0
	as plain "$@"
	is 0 "$*"
	as full "$@"
	is 1 "'$*' >/dev/full"
	expect 'standard output' err
	for how in no_0 no_2; do
		as $how "$@"
		is 0 "'$*' with $how"
	done
	as no_1 "$@"
	is 1 "'$*' with no_1"
	expect 'Bad file descriptor' err
}
dxp up --xpus 1 --memory 64M --port 0
example hello_xpu
dxp down
say passed
