#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Register mode by IP address and port between xPUs of two managers, without a common node table. A
# message arrives only if both daemons admit the other's address and have the same key.
#
#   dxp-manager 1 --- dxpd: one                             127.0.0.1
#   dxp-manager 2 --- dxpd: two     admits 127.0.0.0/8
#               +---- dxpd: shut    admits 10.0.0.0/8
#   dxp-manager 3 --- dxpd: alien   admits all, has another key
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

user=$(cd "$DXP_BIN/../test" && pwd)/function-user
[ -x "$user" ] || { echo "skipped: $user is not built"; exit 77; }
export LD_LIBRARY_PATH=$DXP_BIN/../lib

# shellcheck source=test/net/lib_daemons.sh
. "$(dirname "$0")/lib_daemons.sh"

# manager NUMBER KEY: starts a manager.
manager() {
	start "manager$1" 'listening on' dxp-manager --key "$scratch/$2" --new-key \
		--state "$scratch/state$1" --bind 127.0.0.1:0
}

# daemon NAME MANAGER KEY RANGES: starts an xPU; sets `port`.
daemon() {
	start "$1" ' at .* MiB' dxpd --manager \
		"$(sed -n 's/.*listening on //p' "$scratch/manager$2")" --key "$scratch/$3" \
		--name "$1" --engine none --memory 1M --outside "$4"
	port=$(sed -n 's/.* at [0-9.]*:\([0-9]*\),.*/\1/p' "$scratch/$1")
}

# receiver NAME: receives at a function of this xPU; `at`: the function and magic.
receiver() {
	start "receiver-$1" '^at ' "$user" registers "$1" "sink-$1"
	read -r -a at < <(sed -n 's/^at //p' "$scratch/receiver-$1")
}

# send TEXT: sends from a function of `one` to the receiver.
send() {
	"$user" by-address one sender 127.0.0.1 "$port" "${at[@]}" "$1"
}

say '== wrong use'
for bad in 10.0.0.1/8 10.0.0.0/33 localhost; do
	refuse 2 'needs ranges such as' dxpd --outside "$bad"
done
refuse 2 'more than 16 ranges' dxpd --outside "$(printf '10.0.0.%d,' {1..17})"

manager 1 key
manager 2 key
manager 3 other
daemon one 1 key 127.0.0.0/8
daemon two 2 key 10.9.0.0/16,127.0.0.0/8
receiver two
# Both managers assign the first node id to their first xPU.
expect 'one: node 1 ' "$scratch/one"
expect 'two: node 1 ' "$scratch/two"

say '== admitted by both'
send first | has sent || die 'nothing was sent'
send second | has sent || die 'nothing was sent again'
for text in first second; do
	for _ in {1..2400}; do # at most 120 s
		! grep -q "received $text" "$scratch/receiver-two" || break
		sleep 0.05
	done
	expect "received $text" "$scratch/receiver-two"
done

say '== not admitted'
refuse 3 'send: DXP_EPEERLOST' "$user" by-address one sender 10.1.2.3 "$port" "${at[@]}" third
daemon shut 2 key 10.0.0.0/8
receiver shut
refuse 3 'send: DXP_ETIMEDOUT' "$user" by-address one sender 127.0.0.1 "$port" "${at[@]}" third
daemon alien 3 other 127.0.0.0/8
receiver alien
refuse 3 'send: DXP_ETIMEDOUT' "$user" by-address one sender 127.0.0.1 "$port" "${at[@]}" third
! grep -l third "$scratch"/receiver-* || die 'a text arrived'
say passed
