#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Default access: on loopback, everybody with the key; elsewhere, a machine needs a token to join
# and a grant to use an xPU.
#
#   1.  dxp up --- 127.0.0.1
#   2.  near: dxp up --bind 10.81.0.1 --- v0 ==== v1 [10.81.0.2] --- far: dxp-manager, dxp, dxpd
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

readonly far_dir=$scratch/far
readonly small=(--engine none --memory 16M --xpus 1 --port 0)
# granted: prints the grants without blanks.
granted() { dxp grants --json | tr -d ' \n'; }

say '== loopback: the key suffices'
dxp up "${small[@]}"
granted | has '"policy":"any"' || die "grants: $(granted)"
cp "$DXP_DIR/fabric.key" "$scratch/copied"
dxp ping xpu1 --count 2 --manager "$(cat "$DXP_DIR/manager")" --key "$scratch/copied" >/dev/null
dxp down

say '== tokens on request, and again in the same folder'
refuse 2 "--admit is 'auto', 'key' or 'token'" dxp up --admit all
dxp up "${small[@]}" --admit token --name me >"$scratch/up"
expect 'dxp grant NAME XPU' "$scratch/up"
granted | has -F '"explicit","grants":[{"host":"me","xpu":"*"' || die "grants: $(granted)"
dxp ping xpu1 --count 2 >/dev/null
refuse 1 'a fabric is already up' dxp up "${small[@]}"
dxp nodes --json >"$scratch/before"
dxp down
dxp up "${small[@]}" --json >/dev/null
granted | has '"policy":"explicit"' || die "grants: $(granted)"
[ "$(dxp nodes --json | grep '"id"')" = "$(grep '"id"' "$scratch/before")" ] ||
	die "xpu1 has another id: $(dxp nodes)"
dxp down
refuse 1 '--admit token' dxp up "${small[@]}" --admit key
rm -r "$DXP_DIR"

namespaces_make dxpd 10.81.0 ip
say '== off the loopback: one command, which admits nobody'
near dxp up "${small[@]}" --bind 10.81.0.1 --name me >"$scratch/up"
read -r manager <"$DXP_DIR/manager"
expect "dxp join $manager TOKEN" "$scratch/up"
near dxp ping xpu1 --count 2 >/dev/null
cp "$DXP_DIR/fabric.key" "$scratch/copied"
refuse 1 'admits machines by token' ip netns exec "$far" dxp nodes --manager "$manager" \
	--key "$scratch/copied"
refuse 1 'only an operator changes grants' ip netns exec "$far" dxp grant '*' '*' \
	--manager "$manager" --key "$scratch/copied"

say '== a token, a join, a grant'
export -n DXP_DIR
token=$(near dxp token create --role host --dir "$DXP_DIR")
far dxp join "$manager" "$token" --name other --dir "$far_dir" >"$scratch/join"
expect 'dxp grant other XPU' "$scratch/join"
refuse 1 'dxp grant' ip netns exec "$far" dxp ping xpu1 --dir "$far_dir"
near dxp grant other xpu1 --dir "$DXP_DIR" >/dev/null
far dxp ping xpu1 --count 2 --dir "$far_dir" >/dev/null
near dxp down --dir "$DXP_DIR"

say '== a manager by hand'
part "$far" manager.log 'listening on' dxp-manager --key "$scratch/key" --new-key \
	--state "$scratch/state" --bind 10.81.0.2
until_says 'dxp grant' "$scratch/manager.log"
expect 'machines join by tokens (`dxp token create`)' "$scratch/manager.log"
expect "to become its operator: dxp join 10.81.0.2:4795" "$scratch/manager.log"
refuse 1 'admits machines by token' ip netns exec "$near" dxp nodes --manager 10.81.0.2 \
	--key "$scratch/key"
part "$far" open.log 'listening on' dxp-manager --key "$scratch/key" --state "$scratch/open" \
	--bind 10.81.0.2:4796 --admit key --grants any
near dxp nodes --manager 10.81.0.2:4796 --key "$scratch/key" >/dev/null

say '== on the loopback behind a port forward: as off the loopback'
part "$near" forward.log 'xPUs that `dxp grant`' dxp-manager --key "$scratch/key" \
	--state "$scratch/forward" --bind 127.0.0.1:4797 --advertise 203.0.113.7
expect 'machines join by tokens (`dxp token create`)' "$scratch/forward.log"
refuse 1 'admits machines by token' ip netns exec "$near" dxp nodes --manager 127.0.0.1:4797 \
	--key "$scratch/key"
part "$near" here.log 'listening on' dxp-manager --key "$scratch/key" --state "$scratch/here" \
	--bind 127.0.0.1:4798 --advertise 127.0.0.2
near dxp grants --json --manager 127.0.0.1:4798 --key "$scratch/key" | tr -d ' \n' |
	has '"policy":"any"' || die 'a manager that advertises a loopback address is not open'
say passed
