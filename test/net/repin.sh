#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp keys rotate --manager-key` in a running fabric: a transfer goes on, running nodes and their
# folders learn the new key, tokens and machines with the former one work until the overlap ends,
# and a manager that was killed keeps both. A "machine" is a folder; all packets are encrypted.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token
#   fabric-b (xpu) ------+
#   fabric-c (host) -----+
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_keys.sh
. "$(dirname "$0")/lib_keys.sh"
readonly B=$scratch/fabric-b C=$scratch/fabric-c

# value NAME: prints a number of the key pair's state at the manager.
value() {
	dxp keys show --json | sed -n '/manager_pair/,$ p' |
		sed -n 's/.*"'"$1"'": \([0-9.]*\).*/\1/p' | tail -n 1
}
pinned_alike() { cmp -s "$1/manager.pub" "$DXP_DIR/manager.pub"; }
ping() { env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5'; }
is_generation() { [ "$(value generation)" = "$1" ]; }
shown_stale() {
	dxp keys show --dir "$scratch/early" | has 'has another key; run .dxp keys fetch'
}
logged_twice() { [ "$(dxp events --kind rotated | grep -c ' rotated  *manager ')" = 2 ]; }
complete() { [ "$(value former_s)" = 0.0 ]; }

say "== a fabric with a transfer that runs"
dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
until_ok dxp join --dir "$B" --name b "$manager" "$token"
token=$(token_make --role host)
until_ok dxp join --dir "$C" --name c "$manager" "$token"
env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 --verbose \
	>"$scratch/dxpd.log" 2>&1 &
daemon=$!
processes=("$daemon")
until_ok has 'xb: node' "$scratch/dxpd.log"
until_ok dxp grant c xb
env DXP_DIR="$C" dxp ping xb --name long --size 256K --count 10000000 >"$scratch/ping" 2>&1 &
pinging=$!
processes+=("$pinging")
until_ok eval 'dxp nodes | has " long "'
cp -a "$C" "$scratch/old"
early=$(token_make --role host) late=$(token_make --role host)

say "== rotated below it"
dxp keys rotate --manager-key >"$scratch/out"
cat "$scratch/out"
expect 'generation 1' "$scratch/out"
cmp -s "$scratch/old/manager.pub" "$DXP_DIR/manager.pub" && die "manager.pub has not changed"
until_ok pinned_alike "$B"
until_ok pinned_alike "$C"
until_ok has 'event=repinned subject=xb' "$scratch/dxpd.log"
refused 'accepts its former key for another' dxp keys rotate --manager-key
until_ok ping
goes_on

say "== tokens and machines with the former key, during the overlap"
until_ok dxp join --dir "$scratch/early" --name early "$manager" "$early"
pinned_alike "$scratch/early" && die 'the token names the new key'
until_ok shown_stale
until_ok dxp keys fetch --dir "$scratch/early"
pinned_alike "$scratch/early" || die 'the new key was not fetched'
until_ok env DXP_DIR="$scratch/old" dxp ping xb --count 1

say "== the manager is killed: it keeps both keys"
kill -9 "$(process_of manager)"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
until_ok is_generation 1
until_ok ping
goes_on

say "== at once: the former key is refused, with the reason"
cp -a "$C" "$scratch/stale"
# longer than the longest wait of a running node, on a busy machine
dxp keys rotate --manager-key --overlap 20 --force | has 'generation 2' || die 'no second rotation'
until_ok pinned_alike "$B"
until_ok pinned_alike "$C"
until_ok complete
refused 'so older tokens are not valid' \
	dxp join --dir "$scratch/late" --name late "$manager" "$late"
refused 'so older tokens are not valid' dxp keys fetch --dir "$scratch/stale"
until_ok ping
goes_on

say "== a machine that missed it: the fingerprint by hand, with its admitted key"
cp "$DXP_DIR/manager.pub" "$scratch/stale/manager.pub"
until_ok env DXP_DIR="$scratch/stale" dxp ping xb --count 1
until_ok logged_twice

say "== bad input"
refused "only an operator" dxp keys rotate --manager-key --dir "$B"
refuse 2 "overlap" dxp keys rotate --manager-key --overlap 3456001
refuse 2 "one key after the other" dxp keys rotate --manager-key --fabric
kill "$pinging" "$daemon"
wait "$daemon" || true
processes=()
dxp down
say passed
