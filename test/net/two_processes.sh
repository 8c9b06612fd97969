#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests two processes that share only the name of a NIC: NAP, PUT, GET and fetch-add between their
# memories.
#
#   nic_server --[vf 1]-- dxpd: NIC of xpu1 --[vf 2]-- nic_client
#                            |
#                        127.0.0.1
#                            |
#   nic_server --[vf 1]-- dxpd: NIC of xpu2
#
#   nic_server: NIC of its own --[vf 2]-- nic_client
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_functions.sh
. "$(dirname "$0")/lib_functions.sh"

# talk CLIENTS-BEFORE NIC [SERVER]: runs a client; checks both outputs.
talk() {
	local before=$1
	shift
	timeout 120 nic_client "$@" >"$scratch/client" 2>&1 ||
		die "client: $(cat "$scratch/client")"
	cat "$scratch/client"
	expect 'client: wrote 65528 bytes and read them back, the same' "$scratch/client"
	expect "client: $before clients before this one" "$scratch/client"
	within 10 grep -q "server: bye, client $((before + 1))" "$server_log" ||
		die "the server did not see client $((before + 1)): $(cat "$server_log")"
	expect 'server: 65528 bytes were put, with 42: abcdefghij' "$server_log"
}

say "== no server runs"
refuse 1 'no NIC on this machine offers functions' nic_client

say "== a NIC inside the server"
server --own mine 3
talk 0 mine
talk 1
refuse 1 "choose one of: mine" nic_client other
talk 2 mine
server_done
refuse 1 'no NIC on this machine offers functions' nic_client mine

say "== through dxpd"
dxp up --xpus 2 --slots-per-daemon 1 --memory 64M --port 0
server xpu1 3
talk 0 xpu1
DXP_NIC=xpu1 talk 1
refuse 1 'several NICs are on this machine' nic_client
refuse 1 'find the server: DXP_ENOENT' nic_client xpu2

talk 2 xpu1
server_done

say "== over the network"
server xpu2 1
talk 0 xpu1 "$server_at"
server_done

say "== dxpd is killed: both learn of it"
server xpu1 0
kill -9 "$(process_of daemon1)"
within 10 grep -q DXP_ECLOSED "$server_log" || die "the server waits on: $(cat "$server_log")"
tail -n 1 "$server_log"
say passed
