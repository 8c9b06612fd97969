#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp keys rotate` in a running fabric: transfers go on, name, role and grants stay, the old key is
# refused. A "machine" is a folder.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token
#   fabric-b (xpu) ------+
#   fabric-c (host) -----+
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_keys.sh
. "$(dirname "$0")/lib_keys.sh"

here=$(dirname "$(readlink -f "$0")")
readonly here B=$scratch/fabric-b C=$scratch/fabric-c

# counter NAME: prints a counter of the manager.
counter() {
	dxp metrics --fabric >"$scratch/metrics"
	sed -n "s/^dxp_manager_$1_total{.*} //p" "$scratch/metrics"
}

# public DIR: prints the public key of a folder.
public() {
	dxp keys show --dir "$1" --json | sed -n 's/.*"key": "\([a-z2-7]*\)".*/\1/p'
}

# renewed_beyond COUNT: whether the manager has renewed more leases.
renewed_beyond() {
	[ "$(counter renewed)" -gt "$1" ]
}

# lists NAME: succeeds if the node table has this node.
lists() {
	dxp nodes | has " $1 "
}

# uses_new COUNT: whether the daemon has taken so many new keys.
uses_new() {
	[ "$(grep -c 'uses the new key' "$scratch/dxpd.log")" -ge "$1" ]
}

# rotated DIR: rotates a folder's key; the old one must be refused.
rotated() {
	local before
	before=$(public "$1")
	rm -rf "$scratch/old"
	cp -a "$1" "$scratch/old"
	rm -f "$scratch/old/node.key.next"
	dxp keys rotate --dir "$1" >"$scratch/out"
	cat "$scratch/out"
	expect "refuses the old key" "$scratch/out"
	[ "$(public "$1")" != "$before" ] || die "$1 has its old key"
	[ ! -e "$1/node.key.next" ] || die "node.key.next remains"
	[ "$(stat -c %a "$1/node.key")" = 600 ] || die "node.key is open to others"
	dxp keys show --dir "$scratch/old" | has 'admitted  no: this key was replaced by' ||
		die "the old key is admitted"
	refuse 1 "was replaced by" dxp nodes --dir "$scratch/old"
	refuse 1 "was replaced by" dxp keys rotate --dir "$scratch/old"
}

say "== a fabric with a transfer that runs"
dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
dxp join --dir "$B" --name b "$manager" "$token"
dxp join --dir "$C" --name c "$manager" "$(dxp token create --role host)"
env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 --verbose \
	>"$scratch/dxpd.log" 2>&1 &
processes=($!)
until_ok has 'xb: node' "$scratch/dxpd.log"
dxp grant c xb
env DXP_DIR="$C" dxp ping xb --name long --size 256K --count 10000000 --interval 2 \
	>"$scratch/ping" 2>&1 &
pinging=$!
processes+=($pinging)
until_ok lists long
dxp keys show --dir "$B" | has 'admitted  as b, role xpu' || die "keys show"

say "== all keys are rotated below it"
begin=$SECONDS
rotated "$B"
until_ok uses_new 1
took=$((SECONDS - begin))
say "the daemon had the new key after $took s"
rotated "$C"
rotated "$DXP_DIR"
renewed=$(counter renewed)
until_ok renewed_beyond $((renewed + 20)) # more than two leases of both nodes
runs $pinging || die "the transfer broke: $(cat "$scratch/ping")"
kill -0 "${processes[0]}" || die "the daemon ended: $(cat "$scratch/dxpd.log")"
[ "$(counter died)" = 0 ] || die "a lease expired"
dxp keys show --dir "$B" | has 'admitted  as b, role xpu' || die "the role of b is lost"
env DXP_DIR="$C" dxp ping xb --count 5 --json | has '"count": 5' || die "the grant of c is lost"
dxp token create --role host >/dev/null || die "the operator lost its role"
refuse 4 "was replaced by" dxpd --dir "$scratch/old" --engine none --name xo --port 0

say "== the manager is killed after it has recorded a key and before it answers"
before=$(public "$B")
coproc PROXY { exec python3 "$here/cut_answer.py" "${manager##*:}" "$(process_of manager)"; }
processes+=($PROXY_PID)
exec {answers}<&"${PROXY[0]}"
read -r -u "$answers" proxy
refuse 1 "which the manager may have recorded" \
	dxp keys rotate --dir "$B" --manager "127.0.0.1:$proxy"
read -r -u "$answers" word
[ "$word" = killed ] || die "the manager was not killed: $word"
[ -e "$B/node.key.next" ] || die "the new key is lost"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
refuse 1 "was replaced by" dxp nodes --dir "$B"
dxp keys rotate --dir "$B" | has 'which an interrupted rotation had made' ||
	die "the rotation does not continue"
[ "$(public "$B")" != "$before" ] || die "b has its old key"
until_ok uses_new 2
until_ok env DXP_DIR="$C" dxp ping xb --count 5 >/dev/null
runs $pinging || die "the transfer broke: $(cat "$scratch/ping")"

say "== killed before it gets the request: nothing has changed"
before=$(public "$B")
kill -STOP "$(process_of manager)"
timeout 60 dxp keys rotate --dir "$B" >"$scratch/out" 2>&1 && die "a stopped manager answers"
expect "no manager answers" "$scratch/out"
kill -9 "$(process_of manager)"
dxp manager init --bind 127.0.0.1 --port "${manager##*:}" >/dev/null
[ "$(public "$B")" = "$before" ] || die "the key has changed"
dxp keys show --dir "$B" | has 'admitted  as b' || die "the old key is refused"
rotated "$B"
until_ok uses_new 3
runs $pinging || die "the transfer broke: $(cat "$scratch/ping")"

logged=$(dxp events --kind rotated | grep -c ' rotated  *b ')
[ "$logged" -ge 3 ] || die "$logged rotations of b are in the log: $(dxp events)"

say "== bad input"
refuse 2 "show | rotate" dxp keys
refuse 2 "dxp keys show" dxp keys turn
kill "${processes[@]}" 2>/dev/null || true
wait "${processes[0]}" "$pinging" || true
processes=()
dxp down
refuse 1 "no manager answers" dxp keys rotate --dir "$B" --manager 127.0.0.1:9
mkdir "$scratch/fabric-d"
refuse 1 "no fabric is up" dxp keys rotate --dir "$scratch/fabric-d"
dxp up --engine none --port 0 --memory 16M --dir "$scratch/fabric-d" >/dev/null
refuse 1 "has a shared key only" dxp keys rotate --dir "$scratch/fabric-d"
say passed
