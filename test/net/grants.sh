#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests access to xPUs: a host has none before a grant, and none after the grant is revoked.
#
#   dxp --name alice, --name bob --- 127.0.0.1 --- dxp-manager --grants explicit
#                                             +--- dxpd: xpu1   dxpd: xpu2
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

# ping NAME XPU: pings the xPU as the host NAME.
ping() {
	dxp ping "$2" --name "$1" --count 5 --json | has '"count": 5' ||
		die "$1 cannot reach $2"
}

dxp up --xpus 2 --memory 16M --port 0 --grants explicit
refuse 1 xpu1 dxp ping xpu1 --name alice
dxp grant alice xpu1
ping alice xpu1
refuse 1 xpu2 dxp ping xpu2 --name alice
refuse 1 xpu1 dxp ping xpu1 --name bob
dxp grant '*' xpu2 --json | has '"granted": true' || die "grant --json"
ping bob xpu2
ping alice xpu2
refuse 1 "no node named 'xpu1' that this host may use" dxp ping xpu1 --name bob
dxp nodes --name bob --json | has '"name": "xpu1"' || die "the operator's table is incomplete"

say "== revoked while in use"
dxp ping xpu1 --name alice --count 10000000 >"$scratch/alice" 2>&1 &
alice=$!
sleep 0.5
runs $alice || die "alice ended too early: $(cat "$scratch/alice")"
dxp grants >"$scratch/grants"
[ "$(tr -s ' ' <"$scratch/grants")" = "$(printf 'HOST XPU\nalice xpu1\n* xpu2')" ] ||
	die "dxp grants: $(cat "$scratch/grants")"
dxp grants --json | tr -d ' \n' >"$scratch/grants"
expect '"policy":"explicit","grants":[{"host":"alice","xpu":"xpu1"}' "$scratch/grants"
dxp revoke alice xpu1
begin=$SECONDS
wait $alice && die "alice goes on after the revoke"
[ $((SECONDS - begin)) -le 15 ] || die "alice ended only after $((SECONDS - begin)) s"
expect xpu1 "$scratch/alice"
expect 'dxp grant' "$scratch/alice"
say "ok: $(tail -n 1 "$scratch/alice")"
refuse 1 xpu1 dxp ping xpu1 --name alice
refuse 1 "a node's name" dxp grant 'two words' xpu1
dxp down
say passed
