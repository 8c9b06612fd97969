#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With wrong input, or killed processes, each command must fail soon, print a remedy, and leave no
# files.
# shellcheck disable=SC2016 # the sentences quote commands with backticks
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd daemon1: xpu1
#                    +--- dxpd daemon2: xpu2   killed at the end
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

say "== called wrongly"
refuse 2 "unknown command 'frobnicate'" dxp frobnicate
refuse 2 'unknown option --frob' dxp up --frob
refuse 2 '--xpus needs a number from 1' dxp up --xpus 0
refuse 2 '--memory needs a size from 1M to 1024G' dxp up --memory lots
refuse 2 "--grants is 'auto', 'any' or 'explicit'" dxp up --grants some
refuse 2 'exceed port 65535' dxp up --xpus 3 --node-port 65534
refuse 2 'missing argument: XPU' dxp ping
refuse 2 'too many arguments, starting with two' dxp ping one two
refuse 2 'missing value of option --count' dxp ping xpu1 --count
refuse 2 "'here' is not an address" dxp put xpu1 here /dev/null
refuse 2 "unknown benchmark 'nothing'" dxp bench nothing

say "== no fabric"
refuse 1 'start one with `dxp up`' dxp nodes
refuse 1 'no fabric was started from' dxp down
refuse 1 "'nonsense' is not an address" dxp up --bind nonsense
refuse 1 'exited before the fabric was up' dxp up --bind 192.0.2.1
refuse 1 'no-such-device' dxp up --engine ocl:no-such-device --port 0
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"

say "== a part that ends while the fabric starts: up names the reason"
# fake PART LINE: copies `dxp`, with a script of this line as program PART.
fake() {
	rm -rf "$scratch/parts"
	mkdir "$scratch/parts"
	cp "$DXP_BIN/dxp" "$scratch/parts/"
	ln -s "$DXP_BIN/dxp-manager" "$DXP_BIN/dxpd" "$scratch/parts/"
	rm "$scratch/parts/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/parts/$1"
	chmod +x "$scratch/parts/$1"
}
fake dxp-manager 'kill -SEGV $$'
refuse 1 'manager exited before the fabric was up: signal 11 (' "$scratch/parts/dxp" up --port 0
fake dxp-manager 'exit 7'
refuse 1 'up: exit status 7; its log is empty' "$scratch/parts/dxp" up --port 0
fake dxp-manager 'kill -XFSZ $$'
refuse 1 'ulimit -f' "$scratch/parts/dxp" up --port 0
fake dxpd 'echo no engine today; kill -KILL $$'
refuse 1 'daemon1 exited before the fabric was up: signal 9 (' \
	"$scratch/parts/dxp" up --xpus 1 --port 0
expect 'no engine today' "$scratch/out"
# KiB of file size: the manager reaches the first limit, a daemon the second.
refuse 1 'ulimit -f' bash -c 'ulimit -f 1; exec dxp up --port 0'
refuse 1 'File too large' bash -c 'ulimit -f 200; exec dxp up --port 0'
if unshare -m true 2>/dev/null; then
	for command in 'up --port 0' down; do
		refuse 1 'mount -t proc' \
			unshare -m sh -c "mount -t tmpfs none /proc && exec dxp $command"
	done
else
	left_out 'a machine without /proc' 'mount namespaces are not allowed'
fi
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"

dxp up --xpus 2 --memory 64M --port 0
manager=$(cat "$DXP_DIR/manager")

# once TEXT COMMAND...: fails with the reason in exactly one line.
once() {
	refuse 1 "$@"
	[ "$(wc -l <"$scratch/out")" -eq 1 ] || die "printed more than once: $(cat "$scratch/out")"
}

say "== unknown xPU, and no xPU"
once "no node named 'xpu9'" dxp ping xpu9
once "no node named '77'" dxp ping 77
refuse 2 "unknown register 'FROB'" dxp reg xpu1 FROB

say "== wrong fabric key"
tr '0-9a-f' '1-9a-f0' <"$DXP_DIR/fabric.key" >"$scratch/other.key"
chmod 600 "$scratch/other.key"
once 'key' dxp ping xpu1 --key "$scratch/other.key"
once 'key' dxp nodes --key "$scratch/other.key"
echo garbage >"$scratch/bad.key"
chmod 600 "$scratch/bad.key"
once 'holds no fabric key' dxp ping xpu1 --key "$scratch/bad.key"
cp "$DXP_DIR/fabric.key" "$scratch/open.key"
chmod 644 "$scratch/open.key"
once 'chmod 600' dxp ping xpu1 --key "$scratch/open.key"
once 'no fabric key' dxp nodes --key "$scratch/absent.key"
once 'not a regular file' dxp nodes --key "$scratch"

say "== no way to the manager, and no such address here"
once 'link-local' dxp nodes --manager '[fe80::1]:4795'
once 'link-local' dxp ping xpu1 --manager '[fe80::1]:4795'
once 'no interface of this machine has this address' dxp ping xpu1 --bind 192.0.2.1
once 'no interface of this machine has this address' dxp nodes --bind 192.0.2.1

say "== a second node with the same identity"
dxp ping xpu1 --name twin --count 10000000 >/dev/null &
twin=$!
for _ in {1..1200}; do # at most 120 s
	! dxp nodes | has ' twin ' || break
	sleep 0.1
done
once twin dxp ping xpu1 --name twin
kill $twin
wait $twin 2>/dev/null || true
refuse 2 "--host-memory is 1M" dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --host-memory 5
refuse 3 xpu1 dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --memory 1M
dxp ping xpu1 --count 10

say "== port in use"
refuse 1 'another program uses this port' dxp up --dir "$scratch/fabric2" --port "${manager##*:}"
[ ! -e "$scratch/fabric2" ] || die "left behind: $(find "$scratch/fabric2")"

say "== a manager that is not there"
mkdir "$scratch/gone"
echo 127.0.0.1:9 >"$scratch/gone/manager"
cp "$DXP_DIR/fabric.key" "$scratch/gone/fabric.key"
refuse 1 '127.0.0.1:9' dxp ping xpu1 --dir "$scratch/gone"
refuse 1 '127.0.0.1:9' dxp nodes --dir "$scratch/gone"
refuse 1 'the manager of another fabric' dxp up --dir "$scratch/gone"

# dies KIND OPTION...: `dxp ping` must fail when its xPU is killed.
dies() {
	local kind=$1 status=0 begin
	shift
	dxp ping xpu2 --count 10000000 "$@" >"$scratch/dies" 2>&1 &
	local ping=$!
	sleep 0.5
	runs $ping || die "ping ended too early: $(cat "$scratch/dies")"
	kill -9 "$(process_of daemon2)"
	begin=$(date +%s%N)
	wait $ping || status=$?
	local ms=$((($(date +%s%N) - begin) / 1000000))
	[ $status -eq 1 ] || die "ping of a dead xPU ended with $status"
	[ $ms -lt 30000 ] || die "$kind took $ms ms to notice that the xPU is dead"
	expect "xPU 'xpu2' (node " "$scratch/dies"
	expect '`dxp nodes`' "$scratch/dies"
	say "ok: $kind ended after $ms ms: $(tail -n 1 "$scratch/dies")"
}

say "== xPU killed in the middle"
dies registers
for _ in {1..1200}; do # at most 120 s
	! dxp nodes | has 'xpu2 .* dead' || break
	sleep 0.1
done
refuse 1 "xPU 'xpu2'" dxp ping xpu2
dxp ping xpu1 --count 10
dxp down
dxp up --xpus 2 --memory 64M --port 0
dies GET --size 4M

say "== manager killed: what is known goes on, down still works"
kill -9 "$(process_of manager)"
refuse 1 'manager' dxp nodes
dxp down
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"
say passed
