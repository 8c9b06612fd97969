#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/train-demo with a few drawn digits: four xPUs behind a tree of switches. The demo itself
# fails if two runs differ, if its switch was not killed in the middle of the sums, or if gradients
# passed through the host. Here: what the table and the files state about each way.
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

demo=$(cd "$(dirname "$0")/../.." && pwd)/tools/train-demo
readonly demo out=$scratch/train
readonly EPOCHS=3 STEPS=27 # of 288 digits, in batches of 32
unset DXP_DIR DXP_RUN

[ -x "$DXP_BIN/cl_train" ] || without_opencl 'cl_train is not built: no OpenCL library'
for program in ip bridge unshare; do
	command -v $program >/dev/null || without_opencl "needs the program $program"
done
refuse 1 "'--epochs' is no option, or lacks its value" "$demo" --epochs
refuse 1 'no option --speed' "$demo" --speed 3
DXP_BIN=$scratch refuse 1 'is not there; run make first' "$demo"
[ "$(id -u)" -eq 0 ] || without_opencl 'needs root for network namespaces'
ip netns add "probe-$$" 2>/dev/null || without_opencl 'network namespaces are not allowed'
enter=0
ip netns exec "probe-$$" true 2>/dev/null || enter=$?
ip netns del "probe-$$"
[ $enter -eq 0 ] || without_opencl 'network namespaces cannot be entered'

begin=$SECONDS
DXP_BIN=$DXP_BIN "$demo" --drawn 320 --batch 32 --rate 0.04 --epochs $EPOCHS --output "$out" \
	>"$scratch/demo" 2>&1 || die "$(cat "$scratch/demo")"
sed -n '/^== all runs/,/^$/p' "$scratch/demo"
say "the demo took $((SECONDS - begin)) s"
[ -z "$(ip netns list | grep '^train-' || true)" ] || die 'namespaces are left'

# total NAME KEY: prints the sum of a key over all epochs.
total() {
	sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "$out/$1.json" |
		awk '{ sum += $1 } END { print sum }'
}

for name in switch-2 switch-4; do
	[ "$(total $name by_switch)" -eq $((2 * STEPS)) ] || die "$(cat "$out/$name.json")"
done
[ "$(total layers-4 by_switch)" -eq $((4 * STEPS)) ] || die "$(cat "$out/layers-4.json")"
[ "$(total ring-4 by_ring)" -eq $((2 * STEPS)) ] || die "$(cat "$out/ring-4.json")"
[ "$(total host-4 host_bytes)" -gt 1000000 ] || die "$(cat "$out/host-4.json")"
[ $(($(total killed-4 by_switch) + $(total killed-4 by_tree))) -eq $((2 * STEPS)) ] ||
	die "$(cat "$out/killed-4.json")"
# with the sums of the warm-up step
for name in switch-4:2 layers-4:4; do
	[ "$(grep -c '"name":"allreduce".*"way":"switch"' "$out/${name%:*}.trace")" -eq \
		$((${name#*:} * (STEPS + 1))) ] || die "the trace of $name has other sums"
done
expect 'The host moved no gradients' "$scratch/demo"
say passed
