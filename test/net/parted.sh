#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two xPUs cannot reach each other for some time, although both are alive. An allreduce that they
# compute meanwhile fails with a message, and does not hang. The next one works.
#
#   dxpd: xpu1   127.0.0.1:4801 --- packets to port 4802 are dropped --- 127.0.0.1:4802   dxpd: xpu2
needs=(nft ip)
# shellcheck source=test/net/lib_alone.sh
. "$(dirname "$0")/lib_alone.sh"
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
[ -x "$DXP_BIN/cl_allreduce" ] || without 'cl_allreduce is not built'

# shellcheck source=test/net/lib_daemons.sh
. "$(dirname "$0")/lib_daemons.sh"

# sums SECONDS: adds up vectors of both xPUs.
sums() { timeout -k 1 "$1" dxp run -- cl_allreduce >"$scratch/sums" 2>&1; }

mkdir -p "$DXP_DIR"
start manager 'listening on' dxp-manager --key "$DXP_DIR/fabric.key" --new-key \
	--state "$scratch/state" --bind 127.0.0.1:4795
echo 127.0.0.1:4795 >"$DXP_DIR/manager"
for i in 1 2; do
	start "xpu$i" ' at .* MiB' dxpd --manager 127.0.0.1:4795 --key "$DXP_DIR/fabric.key" \
		--bind 127.0.0.1 --port "480$i" --first $i --memory 128M \
		--state "$scratch/state-xpu$i"
done

say '== before'
sums 120 || die "$(cat "$scratch/sums")"

say '== the xPUs cannot reach each other'
nft -f - <<-'E'
	table ip parted {
		chain out {
			type filter hook output priority 0;
			udp sport 4801 udp dport 4802 drop
			udp sport 4802 udp dport 4801 drop
		}
	}
E
status=0
# The bound is 20 s (docs/guide/collectives.md); the rest is for builds and busy machines.
sums 60 || status=$?
[ $status -eq 1 ] || die "status $status: $(cat "$scratch/sums")"
expect 'OpenCL error' "$scratch/sums"

say '== afterwards'
nft delete table ip parted
sums 120 || die "$(cat "$scratch/sums")"
say 'ok'
