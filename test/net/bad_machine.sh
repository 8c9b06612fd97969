#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A machine in a bad state: read-only folders, no space, ports in use, a clock that is a day off.
# Each program must fail with the next step, or work.
#
#   fabric (operator) ---+--- 127.0.0.1 --- dxp-manager --admit token
#   fabric-b (xpu) ------+
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
parts=''
ours() { echo "$parts"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

readonly clock=$DXP_BIN/../test/libshifted-clock.so
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
	echo 'skipped: needs root and mount namespaces'
	exit 77
fi

# program NAME: makes a program of standard input.
mkdir "$scratch/programs" "$scratch/state"
program() {
	cat >"$scratch/programs/$1"
	chmod +x "$scratch/programs/$1"
}
export PATH=$scratch/programs:$PATH STATE=$scratch/state
# unwritable COMMAND...: runs the command with a read-only file system at $STATE.
program unwritable <<-'E'
	#!/bin/sh
	[ -n "$INNER" ] || INNER=1 exec unshare --mount "$0" "$@"
	mount -t tmpfs -o ro tmpfs "$STATE" && exec "$@"
E
# full COMMAND...: runs the command with a file system at $STATE that has no space.
program full <<-'E'
	#!/bin/sh
	[ -n "$INNER" ] || INNER=1 exec unshare --mount "$0" "$@"
	mount -t tmpfs -o size=4k tmpfs "$STATE" || exit
	head -c 8192 /dev/zero >"$STATE/filler" 2>/dev/null
	exec "$@"
E

dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
manager=$(cat "$DXP_DIR/manager")
readonly manager
readonly new=(--key "$STATE/key" --new-key --state "$STATE/registry"
	--bind 127.0.0.1:0)
readonly xpu=(--engine none --memory 16M --port 0 --name xb)

say '== read-only folders'
readonly MAY='Read-only file system; choose a folder that this user may write'
refuse 5 'Read-only file system; choose another with --state' unwritable dxp-manager \
	--key "$DXP_DIR/fabric.key" --state "$STATE/registry" --bind 127.0.0.1:0
refuse 4 "$MAY" unwritable dxp-manager "${new[@]}"
refuse 5 'choose another --state' unwritable dxpd "${xpu[@]}" --state "$STATE/xpus"
refuse 5 "$MAY" unwritable dxpd "${xpu[@]}" --state "$STATE"
refuse 1 "$MAY" unwritable dxp join "$manager" "$(dxp token create)" --dir "$STATE"
refuse 1 "$MAY" unwritable dxp up --dir "$STATE/fabric" --port 0 --engine none
refuse 1 "$MAY" unwritable dxp manager init --dir "$STATE/fabric" --bind 127.0.0.1 --port 0

say '== a folder that a security module denies'
# confined LABEL COMMAND...: runs the command as another user, in a process with this label.
program confined <<-'E'
	#!/bin/sh
	[ -n "$INNER" ] || INNER=1 exec unshare --mount "$0" "$@"
	echo "$1" >"$STATE/label"
	mount --bind "$STATE/label" /proc/$$/attr/current || exit
	shift
	exec setpriv --reuid 65534 --clear-groups "$@"
E
readonly DENIED='Permission denied; choose a folder that this user may write'
chmod 755 "$scratch"
if [ -e /proc/self/attr/current ] &&
	setpriv --reuid 65534 --clear-groups test -x "$DXP_BIN/dxp"; then
	refuse 4 "$DENIED; the AppArmor profile dxpd may have denied it" \
		confined 'dxpd (enforce)' dxp-manager "${new[@]}"
	refuse 4 "$DENIED" confined unconfined dxp-manager "${new[@]}"
	! grep AppArmor "$scratch/out" || die 'the message names AppArmor'
	refuse 1 'journalctl -k -g DENIED' confined 'dxp (enforce)' dxp nodes --dir "$DXP_DIR"
else
	left_out 'a denied folder' 'no labels of processes, or the user nobody may not run dxp'
fi

say '== no space'
readonly SPACE='No space left on device; free space'
refuse 5 'free space, or choose a --state folder' full dxp-manager --key "$DXP_DIR/fabric.key" \
	--state "$STATE/registry" --bind 127.0.0.1:0
refuse 4 "$SPACE" full dxp-manager "${new[@]}"
refuse 5 "$SPACE" full dxpd "${xpu[@]}" --state "$STATE/xpus"
! grep 'to get a new key' "$scratch/out" || die 'the message names a file that does not exist'
refuse 1 "$SPACE" full dxp join "$manager" "$(dxp token create)" --dir "$STATE"
refuse 1 "$SPACE" full dxp up --dir "$STATE/fabric" --port 0 --engine none

say '== a machine joins although its clock is a day off'
token=$(dxp token create --uses 3)
for shift in 86400 -86400; do
	echo $shift >"$scratch/wall"
	env LD_PRELOAD="$clock" SHIFT_WALL="$scratch/wall" dxp join "$manager" "$token" \
		--name "b$shift" --dir "$scratch/fabric$shift"
done
readonly B=$scratch/fabric-86400

# daemon_start: starts dxpd of machine b, with its clock shifted by the file wall.
daemon_start() {
	env DXP_DIR="$B" LD_PRELOAD="$clock" SHIFT_WALL="$scratch/wall" dxpd "${xpu[@]}" \
		--state "$scratch/xpus" >"$scratch/dxpd.log" 2>&1 &
	parts=$!
}

say '== the clock of a daemon goes back by a day between two starts'
echo 86400 >"$scratch/wall"
daemon_start
for _ in {1..1200}; do # at most 120 s
	! grep -qF 'xb: node' "$scratch/dxpd.log" || break
	sleep 0.1
done
expect 'xb: node' "$scratch/dxpd.log"
dxp grant admin xb
dxp ping xb --count 5
kill "$parts"
wait "$parts" || die "dxpd ended with $?"
parts=''
echo 0 >"$scratch/wall"
refuse 1 "correct this machine's clock" env DXP_DIR="$B" dxpd "${xpu[@]}" --state "$scratch/xpus"

say '== ports in use'
refuse 3 'another program uses this port; stop it' dxp-manager --key "$DXP_DIR/fabric.key" \
	--state "$scratch/other" --bind "$manager"
refuse 3 'another program uses this port; stop it' env DXP_DIR="$B" dxpd --engine none \
	--memory 16M --name xc --bind "$manager"
dxp down
say passed
