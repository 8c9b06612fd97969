#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that prove no key pair: a daemon that joined with a token refuses them, unless the operator
# allows them. All packets are encrypted.
#
#   fabric (operator), fabric-b (xpu) ---+--- 127.0.0.1 --- dxp-manager --admit token, then key
#   a program with the fabric key only --+
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_keys.sh
. "$(dirname "$0")/lib_keys.sh"
unset DXP_PEER_KEYS
readonly B=$scratch/fabric-b

# manager OPTION...: starts a manager with the state of this test; sets `at` to its address.
manager() {
	dxp-manager --state "$scratch/state" --key "$scratch/key" "$@" \
		>"$scratch/manager.log" 2>&1 &
	processes+=($!)
	managing=$!
	until_ok has 'listening on' "$scratch/manager.log"
	at=$(sed -n 's/^listening on //p' "$scratch/manager.log")
}

# daemon OPTION...: starts dxpd of machine b.
daemon() {
	[ -z "${serving:-}" ] || end "$serving"
	env DXP_DIR="$B" dxpd --engine none --memory 16M --name xb --port 0 "$@" \
		>"$scratch/dxpd.log" 2>&1 &
	processes+=($!)
	serving=$!
	until_ok has 'xb: node' "$scratch/dxpd.log"
}

end() {
	kill "$1"
	wait "$1" || true
}

# as with the fabric key only; followed by a command of dxp and "${bare[@]}"
readonly plain=(env -u DXP_DIR dxp)

say '== machines join by tokens; then the manager admits the fabric key too'
manager --new-key --bind 127.0.0.1:0 --admit token
token=$(<"$scratch/state/operator.token")
until_ok dxp join "$at" "$token" --name admin
token=$(token_make --role xpu)
until_ok dxp join "$at" "$token" --name b --dir "$B"
end "$managing"
manager --bind "$at" --admit key --grants any
readonly bare=(--manager "$at" --key "$scratch/key")
daemon
until_ok dxp ping xb --count 3 >/dev/null
until_ok eval 'dxp doctor --to xb | has "key pairs of both sides proven"'
until_ok eval "dxp nodes --json | has '\"key_pairs\": true'"

say '== without a key pair: refused on both sides, with the reason'
refused 'another --protect or a key pair' "${plain[@]}" ping xb --count 3 "${bare[@]}"
refused 'join with a token' "${plain[@]}" ping xb --count 3 "${bare[@]}"
expect 'proves no key pair' "$scratch/dxpd.log"
expect '--peer-keys allow' "$scratch/dxpd.log"
shown_refused() { "${plain[@]}" nodes "${bare[@]}" | has 'xb .*refused'; }
until_ok shown_refused

say '== the operator allows it: by flag, variable and file'
daemon --peer-keys allow
until_ok "${plain[@]}" ping xb --count 3 "${bare[@]}" >/dev/null
shown_weak() { "${plain[@]}" doctor --to xb "${bare[@]}" | has 'only the fabric key proven'; }
until_ok shown_weak
DXP_PEER_KEYS=allow daemon
until_ok "${plain[@]}" ping xb --count 3 "${bare[@]}" >/dev/null
printf '[dxpd]\npeer-keys = allow\n' >"$scratch/conf"
DXP_CONFIG=$scratch/conf daemon
until_ok "${plain[@]}" ping xb --count 3 "${bare[@]}" >/dev/null

say '== required: a program without a key pair does not start'
refused 'this node has no key pair' \
	"${plain[@]}" ping xb --count 3 --peer-keys require "${bare[@]}"
until_ok dxp ping xb --count 3 --peer-keys require >/dev/null
refuse 2 'auto, require or allow' dxp ping xb --peer-keys some
say passed
