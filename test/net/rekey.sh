#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp keys rotate --fabric` in a running fabric: transfers go on and new sessions open at each
# moment, nodes that were away and a manager that was killed follow, the old key is refused, and a
# removed machine never gets the new one. A "machine" is a folder; all packets are encrypted.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token
#   fabric-b (xpu) ------+
#   fabric-c (host) -----+
#   fabric-d (host) -----+
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_keys.sh
. "$(dirname "$0")/lib_keys.sh"

here=$(dirname "$(readlink -f "$0")")
readonly here B=$scratch/fabric-b C=$scratch/fabric-c D=$scratch/fabric-d

# value NAME: prints a number of the fabric key's state at the manager.
value() {
	dxp keys show --json | sed -n "/\"fabric\": {/,/}/s/.*\"$1\": \([0-9.]*\).*/\1/p"
}

# is_generation NUMBER: whether the manager has rotated the key so often.
is_generation() {
	[ "$(value generation)" = "$1" ]
}

# complete: whether nodes refuse the former key.
complete() {
	[ "$(value former_s)" = 0.0 ]
}

# same_key DIR: whether the folder has the operator's fabric key.
same_key() {
	cmp -s "$1/fabric.key" "$DXP_DIR/fabric.key"
}

# counters DIR: whether xb answers a request for counters that is sealed with this folder's key.
counters() {
	dxp top --fabric --json --node xb --dir "$1" | has '"pid": [1-9]'
}

# ping: opens a new session to xb.
ping() {
	env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5'
}

# pings_until COMMAND...: opens sessions until the command succeeds; none may fail.
pings_until() {
	local count=0
	until "$@"; do
		ping || die "a session did not open: $(env DXP_DIR="$C" dxp ping xb --count 1 2>&1)"
		count=$((count + 1))
	done
	say "$count sessions opened meanwhile"
}

# pings_again_until COMMAND...: the same after a manager's restart, when a session may take some
# seconds to open: a node may have got its key long before.
pings_again_until() {
	until "$@"; do
		until_ok ping
	done
}

say "== a fabric with a transfer that runs"
dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
dxp join --dir "$B" --name b "$manager" "$token"
dxp join --dir "$C" --name c "$manager" "$(dxp token create --role host)"
dxp join --dir "$D" --name d "$manager" "$(dxp token create --role host)"
env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 --verbose \
	>"$scratch/dxpd.log" 2>&1 &
daemon=$!
processes=("$daemon")
until_ok has 'xb: node' "$scratch/dxpd.log"
dxp grant c xb
dxp grant d xb
env DXP_DIR="$C" dxp ping xb --name long --size 256K --count 10000000 --interval 2 \
	>"$scratch/ping" 2>&1 &
pinging=$!
processes+=("$pinging")
until_ok eval 'dxp nodes | has " long "'
dxp keys show | has 'never rotated' || die "keys show"
cp -a "$C" "$scratch/old"
cp -a "$D" "$scratch/stolen"
counters "$scratch/old" || die "xb gives no counters"

say "== rotated below it"
dxp keys rotate --fabric >"$scratch/out"
cat "$scratch/out"
expect "generation 1" "$scratch/out"
cmp -s "$scratch/old/fabric.key" "$DXP_DIR/fabric.key" && die "the key has not changed"
[ "$(stat -c %a "$DXP_DIR/fabric.key")" = 600 ] || die "fabric.key is open to others"
refuse 1 "accept the former key for another" dxp keys rotate --fabric
pings_until same_key "$B"
pings_until same_key "$C"
pings_until complete
until_ok has 'event=rekeyed subject=xb' "$scratch/dxpd.log"
ping || die "no session with the new key"
goes_on

say "== the old key is refused, and fetched again"
counters "$DXP_DIR" || die "xb gives no counters with the new key"
counters "$scratch/old" && die "xb gives counters with the old key"
dxp keys show --dir "$scratch/old" | has 'has another key; run .dxp keys fetch' || die "keys show"
dxp keys fetch --dir "$scratch/old"
same_key "$scratch/old" || die "the key was not fetched"
counters "$scratch/old" || die "xb gives no counters with the fetched key"

say "== a daemon that was stopped during a rotation follows when it runs again"
kill -STOP "$daemon"
dxp keys rotate --fabric --overlap 1 | has 'generation 2' || die "the second rotation"
until_ok complete
kill -CONT "$daemon"
until_ok same_key "$B"
until_ok ping
goes_on

say "== the manager is killed after it has recorded a key and before it answers"
coproc PROXY { exec python3 "$here/cut_answer.py" "${manager##*:}" "$(process_of manager)"; }
processes+=("$PROXY_PID")
exec {answers}<&"${PROXY[0]}"
read -r -u "$answers" proxy
refuse 1 "prints the next generation" dxp keys rotate --fabric --manager "127.0.0.1:$proxy"
read -r -u "$answers" word
[ "$word" = killed ] || die "the manager was not killed: $word"
ping && die "a ping joins without a manager"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
until_ok is_generation 3
dxp keys fetch
until_ok same_key "$B"
pings_again_until complete
goes_on

say "== the manager is killed in the middle of an overlap"
dxp keys rotate --fabric | has 'generation 4' || die "the fourth rotation"
kill -9 "$(process_of manager)"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
is_generation 4 || die "the manager lost the key"
until_ok same_key "$B"
pings_again_until complete
goes_on

say "== a removed machine never gets the new key"
env DXP_DIR="$D" dxp ping xb --count 1 >/dev/null || die "d cannot use xb"
until_ok same_key "$D"
cp -a "$D" "$scratch/removed"
dxp node remove d --rotate --overlap 1 | has 'generation 5' || die "node remove --rotate"
pings_until complete
until_ok same_key "$B"
refuse 1 "removed from the fabric" env DXP_DIR="$scratch/removed" dxp ping xb --count 1
refuse 1 "removed from the fabric" dxp keys fetch --dir "$scratch/removed"
same_key "$scratch/removed" && die "the removed machine has the new key"
counters "$DXP_DIR" || die "xb gives no counters"
goes_on

say "== a daemon that was started with an old key file gets the new key as it joins"
kill "$pinging"
kill "$daemon"
wait "$daemon" || die "the daemon failed: $(cat "$scratch/dxpd.log")"
cp "$scratch/stolen/fabric.key" "$B/fabric.key"
env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 --verbose \
	>"$scratch/dxpd.log" 2>&1 &
daemon=$!
processes=("$daemon")
until_ok has 'xb: node' "$scratch/dxpd.log"
until_ok same_key "$B"
until_ok ping
[ "$(dxp events --kind rotated | grep -c ' rotated  *fabric ')" = 5 ] || die "$(dxp events)"

say "== a fresh start of the manager keeps the key, and its key file does not matter"
dxp down
cp "$scratch/stolen/fabric.key" "$DXP_DIR/fabric.key"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
is_generation 5 || die "the manager lost the key"
dxp keys fetch
same_key "$B" || die "the fabric has another key"
until_ok ping

say "== bad input"
refuse 1 "only an operator" dxp keys rotate --fabric --dir "$B"
refuse 2 "overlap" dxp keys rotate --fabric --overlap 86401
refuse 2 "is for" dxp keys rotate --force
refuse 2 "dxp keys fetch" dxp keys turn
kill "$daemon"
wait "$daemon" || true
processes=()
dxp down
refuse 1 "no manager answers" dxp keys fetch --manager 127.0.0.1:9
mkdir "$scratch/fabric-e"
dxp up --engine none --port 0 --memory 16M --dir "$scratch/fabric-e" >/dev/null
refuse 1 "has a shared key only" dxp keys rotate --fabric --dir "$scratch/fabric-e"
say passed
