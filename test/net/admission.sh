#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests a fabric that admits machines by token, from `dxp manager init` to `dxp node remove`. A
# "machine" is a folder.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token
#   fabric-b (xpu) ------+
#   fabric-c (host) -----+
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

readonly B=$scratch/fabric-b C=$scratch/fabric-c X=$scratch/fabric-x
daemons=()
ours() {
	[ ${#daemons[@]} -eq 0 ] || printf '%s\n' "${daemons[@]}"
}

# wait_for TEXT FILE: waits until a program has written the text.
wait_for() {
	local begin=$SECONDS
	until grep -qF -- "$1" "$2" 2>/dev/null; do
		[ $((SECONDS - begin)) -le 60 ] || die "no '$1' in: $(cat "$2")"
		sleep 0.1
	done
}

daemon_stop() {
	kill "${daemons[@]}"
	wait "${daemons[@]}" || true
	daemons=()
}

# daemon_start OPTIONS: starts dxpd of machine b. Its log is $scratch/dxpd.log.
daemon_start() {
	: >"$scratch/dxpd.log"
	env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --state "$scratch/xpus" \
		--port 0 "$@" >"$scratch/dxpd.log" 2>&1 &
	daemons=($!)
	wait_for 'xb: node' "$scratch/dxpd.log"
}

say "== init, and one line for another machine"
dxp manager init --bind localhost --port 0 --name admin >"$scratch/init"
line=$(sed -n 's/^ *dxp join //p' "$scratch/init")
read -r manager token <<<"$line"
[ "$(stat -c %a "$DXP_DIR/node.key" "$DXP_DIR/registry/manager.key" | sort -u)" = 600 ] ||
	die "a private key is open to others"
env DXP_DIR="$B" dxp join "localhost:${manager##*:}" "$token" --name b
[ "$(stat -c %a "$B/node.key" "$B/fabric.key" | sort -u)" = 600 ] || die "keys of b are open"
cmp -s "$DXP_DIR/fabric.key" "$B/fabric.key" || die "b has another fabric key"
daemon_start
env DXP_DIR="$C" dxp join "$manager" "$(dxp token create --role host --expires 1h)" --name c

say "== grants name the key"
refuse 1 "not granted" env DXP_DIR="$C" dxp ping xb
dxp grant c xb
env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5' || die "c cannot reach xb"
refuse 1 "only an operator" env DXP_DIR="$C" dxp grant '*' '*'
refuse 1 "only an operator" env DXP_DIR="$C" dxp token create
refuse 4 "role host" env DXP_DIR="$C" dxpd --engine none --name xc --port 0

if [ "$(id -u)" = 0 ]; then
	say "== root in a folder of another user: its symlinks lead to no file of root"
	chmod a+x "$scratch"
	mkdir "$scratch/nobody"
	echo unchanged >"$scratch/root"
	chmod 600 "$scratch/root"
	# "dxp join" writes manager.pub by manager.pub.PID.part.
	token_for_nobody=$(dxp token create)
	sh -c 'ln -s ../root "$1/manager.pub.$$.part"; chown -h nobody "$1" "$1"/*
		exec dxp join "$2" "$3" --name n --dir "$1"' - \
		"$scratch/nobody" "$manager" "$token_for_nobody" >"$scratch/out" 2>&1 &&
		die "dxp join followed a symlink"
	expect "cannot write" "$scratch/out"
	[ "$(cat "$scratch/root")" = unchanged ] || die "a file of root was written"
	rm "$scratch"/nobody/manager.pub.*.part
	dxp join "$manager" "$(dxp token create)" --name n --dir "$scratch/nobody"
	group=$(id -gn nobody)
	[ "$(stat -c %U:%G "$scratch"/nobody/* | sort | uniq -c | xargs)" = "4 nobody:$group" ] ||
		die "not all files belong to nobody: $(ls -l "$scratch/nobody")"
	install -d -o 54321 "$scratch/unknown"
	dxp join "$manager" "$(dxp token create)" --name u --dir "$scratch/unknown"
	stat -c %u:%g "$scratch"/unknown/* | has -v 54321:54321 &&
		die "files of root: $(ls -ln "$scratch/unknown")"

	install -d -o nobody "$scratch/foreign"
	install -d -m 700 "$scratch/private"
	ln -s ../private "$scratch/foreign/registry"
	dxp manager init --bind 127.0.0.1 --port 0 --dir "$scratch/foreign" >"$scratch/out" 2>&1 &&
		die "dxp manager init followed a link of nobody"
	[ -z "$(ls "$scratch/private")" ] || die "written: $(ls -l "$scratch/private")"
	rm "$scratch/foreign/registry"
	ln -s ../private "$scratch/foreign/run"
	echo '{"key_created": false, "folder_created": false, "processes": []}' \
		>"$scratch/private/fabric"
	refuse 1 'no fabric is up' dxp down --dir "$scratch/foreign"
	[ -e "$scratch/private/fabric" ] || die "dxp down removed a file of root"
	ln -sfn ../private "$scratch/foreign/new"
	dxp join "$manager" "$(dxp token create)" --name o --dir "$scratch/foreign/new" &&
		die "dxp join followed a link of nobody"
	[ "$(ls "$scratch/private")" = fabric ] || die "written: $(ls -l "$scratch/private")"
	rm "$scratch/foreign/run" "$scratch/foreign/new"
	may_run() { setpriv --reuid nobody --clear-groups test -x "$DXP_BIN/dxp-manager"; }
	if may_run; then
		dxp manager init --bind 127.0.0.1 --port 0 --dir "$scratch/foreign" >/dev/null
		stat -c %U "$scratch"/foreign/* | has -v nobody && die 'root owns a file of nobody'
		dxp down --dir "$scratch/foreign"
	fi
	if may_run && unshare --mount true 2>/dev/null; then
		{ cat /etc/group && echo 'dxp-render:x:54322:nobody'; } >"$scratch/group"
		unshare --mount bash -euc 'mount --bind "$1" /etc/group
			dxp up --engine none --memory 16M --xpus 1 --port 0 --dir "$2" >/dev/null' \
			- "$scratch/group" "$scratch/foreign"
		pids=$(grep -o '"pid": *[0-9]*' "$scratch/foreign/run/fabric" | tr -dc '0-9\n')
		for pid in $pids; do
			grep -H '^Groups:' "/proc/$pid/status"
		done >"$scratch/groups"
		dxp down --dir "$scratch/foreign"
		[ -s "$scratch/groups" ] || die 'no processes were up'
		has -vw 54322 "$scratch/groups" && die "groups of nobody: $(cat "$scratch/groups")"
	fi
fi

say "== each wrong token has its reason"
refuse 1 "was used by b; make another" env DXP_DIR="$X" dxp join "$manager" "$token"
refuse 2 "not a token" env DXP_DIR="$X" dxp join "$manager" "${token%?}"
IFS=. read -r _ id secret fingerprint <<<"$(dxp token create)"
# other WORD: prints a different word of the same form.
other() {
	case $1 in
	a*) echo "b${1#?}" ;;
	*) echo "a${1#?}" ;;
	esac
}
refuse 1 "not with this secret" env DXP_DIR="$X" dxp join "$manager" \
	"dxp1.$id.$(other "$secret").$fingerprint"
refuse 1 "has no token" env DXP_DIR="$X" dxp join "$manager" \
	"dxp1.$(other "$id").$secret.$fingerprint"
refuse 1 "another manager answers there" env DXP_DIR="$X" dxp join "$manager" \
	"dxp1.$id.$secret.$(other "$fingerprint")"
brief=$(dxp token create --expires 1s)
revoked=$(dxp token create --uses 2)
dxp token revoke "$revoked" | has 'no more keys' || die "revoke prints nothing"
refuse 1 "was revoked; make another" env DXP_DIR="$X" dxp join "$manager" "$revoked"
until dxp token list | has 'expired'; do sleep 0.2; done
refuse 1 "has expired; make another" env DXP_DIR="$X" dxp join "$manager" "$brief"
refuse 1 "belongs to another key" env DXP_DIR="$X" dxp join "$manager" \
	"$(dxp token create)" --name c
refuse 1 "no machine has this name" env DXP_DIR="$X" dxp join no.such.host.invalid "$token"
refuse 1 "no manager answers" env DXP_DIR="$X" dxp join 127.0.0.1:9 "$token"
refuse 2 "is a number with s, m, h or d" dxp token create --expires soon
dxp token list --json | has '"state": "revoked"' || die "token list --json"

say "== services of the manager's machine join in the folder where the manager announces itself"
mkdir "$scratch/fabric-s"
cp "$DXP_DIR/fabric.key" "$scratch/fabric-s"
echo 192.0.2.1:4795 >"$scratch/fabric-s/manager"
refuse 1 "of another manager" dxp join "$manager" "$(dxp token create)" --name s \
	--dir "$scratch/fabric-s"
echo "$manager" >"$scratch/fabric-s/manager"
dxp join "$manager" "$(dxp token create)" --name s --dir "$scratch/fabric-s"

say "== the fabric key does not suffice"
mkdir "$X/copied"
cp -p "$B/fabric.key" "$X/copied"
refuse 1 "admits machines by token" dxp nodes --manager "$manager" --key "$X/copied/fabric.key"
refuse 4 "admits machines by token" \
	dxpd --manager "$manager" --key "$X/copied/fabric.key" --engine none

say "== a manager that was killed goes on"
# Stopped first, so `dxp manager init` finds a running one that does not answer.
killed=$(process_of manager)
kill -STOP "$killed"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null &
starting=$!
sleep 1
kill -9 "$killed"
wait $starting || die "init fails beside a manager that was killed"
env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5' || die "c lost xb"
dxp token list | has -E 'xpu +used' || die "the tokens are lost"

say "== removed within 3 s on all nodes, and refused from then on"
env DXP_DIR="$C" dxp ping xb --count 10000000 >"$scratch/c" 2>&1 &
pinging=$!
sleep 0.5
runs $pinging || die "c ended too early: $(cat "$scratch/c")"
begin=$SECONDS
dxp node remove b
wait $pinging && die "c goes on after the removal"
took=$((SECONDS - begin))
[ $took -le 15 ] || die "the removal took $took s"
wait_for 'removed from the fabric' "$scratch/dxpd.log"
dxp nodes | has xb && die "xb is still listed"
refuse 4 "removed from the fabric" env DXP_DIR="$B" dxpd --engine none --name xb --port 0
refuse 1 "removed from the fabric" env DXP_DIR="$B" dxp join "$manager" "$(dxp token create)"
rm "$B/node.key"
env DXP_DIR="$B" dxp join "$manager" "$(dxp token create)" --name b
daemon_start
env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5' || die "b has not returned"
daemon_stop

say "== as a service: the key file, with the rest of dxp join beside it"
daemon_start --key "$B/fabric.key"
daemon_stop
daemon_start --key "$B/fabric.key" --manager "$manager"
daemon_stop
dxp down
refuse 1 "admits by token" dxp up --admit key --engine none --port 0
dxp manager init --bind 127.0.0.1 --port 0 --json | has '"token": "dxp1' || die "no second start"
dxp token list | has -E 'xpu +used' || die "the tokens are lost"
dxp down
say passed
