#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kernels that send while they run: on one machine, on two, and with a host that exits meanwhile.
#
#   1.  kernel_put --- 127.0.0.1 --- dxp-manager
#                               +--- dxpd: xpu1   dxpd: xpu2, then both in one
#   2.  near: dxp-manager, kernel_put, xpu1 --- [10.78.0.1] v0 ==== v1 [10.78.0.2] --- far: xpu2
#                                                       1 % loss
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

for program in kernel_put kernel_put_cuda; do
	[ -x "$DXP_BIN/$program" ] || die "$DXP_BIN/$program is not built"
done

# picture WORDS COMMAND...: the picture must arrive complete, with the right answer.
picture() {
	local words=$1
	shift
	timeout 120 "$@" >"$scratch/out" 2>&1 || die "'$*' failed: $(cat "$scratch/out")"
	expect "$words" "$scratch/out"
	expect 'the picture there is right' "$scratch/out"
	say "ok: $(tail -n 2 "$scratch/out")"
}

say "== one machine"
refuse 1 'dxp up' kernel_put
dxp up --xpus 2 --memory 64M --port 0
picture 'points in the set (its kernel)' kernel_put
picture 'points in the set (its kernel)' kernel_put xpu2 xpu1
picture '64 blocks (its NIC, no kernel)' kernel_put --nic-answers
picture 'points in the set (its kernel)' kernel_put_cuda --host xpu2
refuse 2 'usage' kernel_put_cuda --hots
refuse 2 'usage' kernel_put xpu1 xpu1
refuse 2 'usage' kernel_put --rings 0
refuse 1 "'xpu9'" kernel_put xpu1 xpu9
# long, because on one core each ring waits for the scheduler
timeout 240 kernel_put --rings 4000 xpu2 >"$scratch/out"
expect '4000 doorbells of a kernel on xpu2' "$scratch/out"
say "ok: $(cat "$scratch/out")"

say "== the same as a benchmark, on a fabric of its own"
timeout 240 dxp bench nic --case 'doorbell of a kernel' --quick --rounds 1 --json >"$scratch/out"
expect '"contender":"kernel, ' "$scratch/out"
expect '"samples":1.0' "$scratch/out"

say "== a host that dies under its kernel"
kernel_put --rings 4000000000 xpu1 >"$scratch/rings" 2>&1 &
host=$!
for _ in {1..600}; do
	[ "$(dxp reg xpu1 STATE)" != 0x00000002 ] || break
	sleep 0.1
done
[ "$(dxp reg xpu1 STATE)" = 0x00000002 ] || die "the kernel does not run: $(cat "$scratch/rings")"
kill -KILL $host
wait $host 2>/dev/null || true
# The killed host cannot stop its kernel; another must be able to use both xPUs.
picture 'points in the set (its kernel)' kernel_put
dxp down

say "== one daemon"
dxp up --xpus 2 --slots-per-daemon 2 --memory 64M --port 0
picture 'points in the set (its kernel)' kernel_put
dxp down

say "== two machines"
namespaces_make dxpk 10.78.0 ip nft

export DXP_DIR=$scratch/joined
mkdir "$DXP_DIR"
readonly at=(--manager 10.78.0.1 --key "$DXP_DIR/fabric.key" --memory 64M --share-cache)
part "$near" manager.log 'listening on' dxp-manager --key "$DXP_DIR/fabric.key" --new-key \
	--state "$scratch/state" --bind 10.78.0.1 --admit key --grants any
echo 10.78.0.1:4795 >"$DXP_DIR/manager"
part "$near" daemon1.log xpu1 dxpd "${at[@]}" --state "$scratch/daemon1"
part "$far" daemon2.log xpu2 dxpd "${at[@]}" --state "$scratch/daemon2" --first 2
picture 'points in the set (its kernel)' ip netns exec "$near" kernel_put
for side in near far; do
	$side nft add table inet path
	$side nft add chain inet path in '{ type filter hook input priority 0; }'
	$side nft add rule inet path in numgen random mod 100 == 0 drop
done
picture 'points in the set (its kernel)' ip netns exec "$near" kernel_put xpu2 xpu1
picture '64 blocks (its NIC, no kernel)' ip netns exec "$near" kernel_put --nic-answers
say passed
