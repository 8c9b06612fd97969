#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp context` with three fabrics of one user: commands, a C program, the OpenCL driver and dxpd
# find the selected one.
#
#   fabric-a: dxp-manager, dxpd: xpu1                  context a
#   fabric-b: dxp-manager, dxpd: xpu1, dxpd: xpu2      context b
#   fabric-m: dxp-manager --admit token                context site, joined with a token
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

opencl=''
if ! command -v clinfo >/dev/null; then
	left_out 'the OpenCL driver' 'no clinfo; apt install clinfo'
elif grep -q __asan_init "$OPENCL_DRIVER"; then
	left_out 'the OpenCL driver' 'clinfo lacks the run-time library of its sanitizer'
else
	opencl=1
fi
readonly opencl
readonly A=$scratch/fabric-a B=$scratch/fabric-b M=$scratch/fabric-m
unset DXP_DIR DXP_CONTEXT
export XDG_STATE_HOME=$scratch/state
readonly fabrics=$XDG_STATE_HOME/dxp/fabrics

# selected: prints the name of the selected context.
selected() {
	dxp context list | sed -n 's/^\* \([^ ]*\) .*/\1/p'
}

# xpus ARGUMENTS...: prints the number of xPUs that `dxp nodes` lists.
xpus() {
	dxp nodes --json "$@" >"$scratch/nodes"
	grep -c '"kind": "xpu"' "$scratch/nodes"
}

# is WANTED GOT WHAT
is() {
	[ "$2" = "$1" ] || die "$3: '$2', not '$1'"
}

# ringed: prints the number of xPUs that a program of the C library finds.
ringed() {
	ring 1 >"$scratch/ring"
	sed -n 's/^\([0-9]*\) xPUs*, .*/\1/p' "$scratch/ring"
}

say "== without a context, and bad names"
is default "$(selected)" "selected"
refuse 1 "no context 'a'" dxp context use a
refuse 2 "no context 'a'" dxp nodes --context a
refuse 2 "is not the name of a context" dxp nodes --context 'a/b'
refuse 1 "is not a folder" dxp context add a "$A"
mkdir "$A" "$B"
refuse 2 "is not the name of a context" dxp context add default "$A"
refuse 2 "is not the name of a context" dxp context add .hidden "$A"
refuse 1 "no context has the name 'a'" dxp context remove a
refuse 2 "write \`dxp context list\`" dxp context select a

say "== two fabrics, one selected after the other"
dxp context add a "$A"
dxp context add b "$B"
refuse 1 "exists already" dxp context add a "$B"
dxp up --context a --xpus 1 --memory 64M --port 0
dxp up --context b --xpus 2 --memory 64M --port 0
[ -e "$A/run" ] && [ -e "$B/run" ] || die "dxp up --context used another folder"
refuse 1 "no fabric is up" dxp nodes
for name in a b; do
	[ $name = a ] && count=1 || count=2
	is $count "$(xpus --context $name)" "dxp nodes --context $name"
	is $count "$(DXP_CONTEXT=$name xpus)" "dxp nodes with DXP_CONTEXT=$name"
	dxp context use $name
	is $name "$(selected)" "selected"
	is $count "$(xpus)" "dxp nodes with context $name"
	[ $count -eq 1 ] || is $count "$(ringed)" "the C library with context $name"
	if [ -n "$opencl" ]; then
		is $count "$(driver clinfo -l | grep -c 'Device #')" "the OpenCL driver"
		is $count "$(dxp run --quiet -- clinfo -l | grep -c 'Device #')" "dxp run"
	fi
done
DXP_CONTEXT=a refuse 1 "1 xPUs, but 2 are needed" ring 1
is 2 "$(DXP_DIR=$B DXP_CONTEXT=a ringed)" "DXP_DIR before DXP_CONTEXT"
dxp context use a
is 2 "$(DXP_CONTEXT=b ringed)" "the C library with DXP_CONTEXT"
if [ -n "$opencl" ]; then
	is 2 "$(dxp run --quiet --context b -- clinfo -l | grep -c 'Device #')" "dxp run --context"
	is 2 "$(DXP_CONTEXT=b driver clinfo -l | grep -c 'Device #')" "the driver with DXP_CONTEXT"
fi
dxp context list --json | has '"name": "b"' || die "dxp context list --json"

say "== the stronger source wins"
manager_a=$(cat "$A/manager")
is 1 "$(DXP_DIR=$B xpus --context a)" "--context before DXP_DIR"
is 2 "$(DXP_CONTEXT=a xpus --dir "$B")" "--dir before DXP_CONTEXT"
is 1 "$(xpus --dir "$B" --context a)" "the last of --dir and --context"
is 2 "$(DXP_DIR=$B DXP_CONTEXT=a xpus)" "DXP_DIR before DXP_CONTEXT"
printf '[dxp]\ncontext = b\n' >"$scratch/conf"
is 2 "$(DXP_CONFIG=$scratch/conf xpus)" "a file before the selection"
is 1 "$(DXP_CONFIG=$scratch/conf xpus --context a)" "--context before a file"
printf '[dxp]\nmanager = %s\n' "$manager_a" >"$scratch/conf"
is 2 "$(DXP_CONFIG=$scratch/conf xpus --context b)" "--context before the manager of a file"
DXP_DIR=$B dxp context use a 2>&1 | has 'overrides this; run `unset DXP_DIR`' ||
	die "no warning about DXP_DIR"

say "== a fabric that was joined with a token"
dxp manager init --dir "$M" --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
refuse 1 "name this one with --context" dxp join --context a "$manager" "$token"
dxp join --context site --name laptop "$manager" "$token"
[ "$(stat -c %a "$fabrics/site/node.key")" = 600 ] || die "no key of site"
dxp keys show --context site | has 'admitted  as laptop' || die "dxp keys --context"
dxpd --context site --engine none --memory 16M --name xs --port 0 --ready-fd 5 5>"$scratch/joined" &
daemon=$!
begin=$SECONDS
until [ -s "$scratch/joined" ]; do
	[ $((SECONDS - begin)) -le 120 ] || die "dxpd --context site does not join"
	sleep 0.1
done
dxp nodes --context site | has ' xs ' || die "xs is not in the fabric of site"
kill $daemon
wait $daemon || die "dxpd ended with $?"
dxp context use site
refuse 1 "remove --with-keys site" dxp context remove site
[ -e "$fabrics/site/node.key" ] || die "the key was removed"
dxp context remove --with-keys site
[ ! -e "$fabrics/site" ] || die "the folder of site remains"
is default "$(selected)" "selected after the removal of the selected one"

say "== what breaks"
dxp context use b
echo 'two words' >"$XDG_STATE_HOME/dxp/context"
refuse 1 "does not hold the name of a context; run \`dxp context use NAME\`" dxp nodes
refuse 1 "does not hold the name" ring
dxp context use b
DXP_CONTEXT=lost refuse 1 "no context 'lost'" ring
DXP_CONTEXT=lost refuse 2 "no context 'lost'" dxp nodes
dxp down --context b
refuse 1 "no fabric is up" ring
dxp context remove b
[ -d "$B" ] || die "the folder of b was removed with its name"
mv "$A" "$scratch/fabric-moved"
dxp context add c "$B"
dxp context use c
rmdir "$B"
refuse 1 "no context 'c'" ring
dxp context remove c
refuse 1 "no context 'a'" dxp context use a
dxp context remove a
ls "$fabrics" | has . && die "left: $(ls "$fabrics")"
mkdir -p "$fabrics/own/registry"
refuse 1 "has a manager of its own" dxp context remove own
(unset HOME XDG_STATE_HOME && refuse 1 "neither DXP_DIR nor HOME is set" dxp context list)
say passed
