#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp top --fabric` and `dxp nodes --wide` show counters of nodes whose files they cannot read, of
# the manager and a switch. Also `dxp paths`.
#
#   dxp top --fabric --- 127.0.0.1 --- dxp-manager
#                            +-------- dxpd daemon1: xpu1
#                            +-------- dxpd daemon2: xpu2  publishes in another folder
#                            +-------- dxpd daemon3: xpu3  publishes nothing
#                            +-------- dxp-switch at 127.0.0.9, only with a network namespace of its
#                                      own, because its port is fixed
if [ -z "${STATS_NAMESPACE:-}" ] && unshare -n ip link set lo up 2>/dev/null; then
	export STATS_NAMESPACE=1
	# shellcheck disable=SC2016 # $0 is of the inner shell
	exec unshare -n bash -c 'ip link set lo up && exec "$0"' "$0"
fi
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

daemon2='' daemon3='' tracer='' switch=''
ours() { echo "$tracer $daemon2 $daemon3 $switch"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

here=$(cd "$(dirname "$0")/../.." && pwd)
export DXP_STATS=$scratch/stats

# wait_for TEXT COMMAND...: repeats the command until a line matches. Prints nothing.
wait_for() {
	local text=$1
	shift
	for _ in {1..2400}; do # at most 120 s
		"$@" >"$scratch/seen" 2>&1 || true
		! has -E "$text" "$scratch/seen" || return 0
		sleep 0.05
	done
	die "no line '$text' in the output of '$*': $(cat "$scratch/seen")"
}

# missing NAME: prints a node's field `missing`; nothing if it returned counters.
missing() {
	dxp top --fabric --json --node "$1" | sed -n 's/.*"missing": "\(.*\)".*/\1/p'
}

say "== no fabric"
refuse 1 'start one with `dxp up`' dxp top --fabric --once

dxp up --xpus 1 --memory 64M --port 0 --engine none
manager=$(cat "$DXP_DIR/manager")
DXP_STATS=$scratch/stats2 DXP_RUN=$scratch/run2 dxpd --manager "$manager" \
	--key "$DXP_DIR/fabric.key" --first 2 --memory 64M --engine none >"$scratch/2.log" 2>&1 &
daemon2=$!
DXP_STATS='' DXP_RUN=$scratch/run3 dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" \
	--first 3 --memory 64M --engine none >"$scratch/3.log" 2>&1 &
daemon3=$!
wait_for 'xpu2 .* alive' dxp nodes
wait_for 'xpu3 .* alive' dxp nodes

say "== nodes whose files are elsewhere"
dxp ping xpu2 --count 1000 >/dev/null
dxp top --once --interval 100 >"$scratch/table"
expect xpu1 "$scratch/table"
! grep -q xpu2 "$scratch/table" || die "the files of xpu2 are visible: $(cat "$scratch/table")"
dxp top --fabric --once --interval 100 --qp >"$scratch/table"
for text in 'NODE  > PEER' 'xpu1 ' "$daemon2" 'publishes nothing' 'qp 0.'; do
	expect "$text" "$scratch/table"
done
dxp top --fabric --once --interval 100 --node xpu2 >"$scratch/table"
! grep -q xpu1 "$scratch/table" || die "--node shows others"
refuse 1 'no such node is in the fabric' dxp top --fabric --once --interval 100 --node xpu9
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$scratch/other.key"
chmod 600 "$scratch/other.key"
refuse 1 'rejects this key' dxp top --fabric --once --manager "$manager" \
	--key "$scratch/other.key"

say "== the counters are those of the file"
if command -v python3 >/dev/null; then
	wait_for '"stats_answered": [1-9]' dxp top --fabric --json --node xpu2
	dxp top --fabric --json --node xpu2 >"$scratch/far.json"
	DXP_STATS=$scratch/stats2 dxp top --json >"$scratch/near.json"
	python3 - "$scratch/far.json" "$scratch/near.json" <<-'END'
		import json, sys
		far, near = (json.load(open(name))["nodes"][0] for name in sys.argv[1:])
		for field in ("name", "id", "kind", "program", "pid", "address"):
		    assert far[field] == near[field], field
		assert far["totals"] == near["totals"], (far["totals"], near["totals"])
		assert far["queue_pairs"] == near["queue_pairs"]
		assert far["counters"]["cfg_received"] == near["counters"]["cfg_received"] >= 1000
		assert near["counters"]["stats_answered"] >= far["counters"]["stats_answered"] > 0
		assert near["counters"]["stats_malformed"] == 0
	END
else
	left_out 'the JSON of dxp top --fabric' 'no python3; tools/setup check'
fi

# service ROLE: prints a service of dxp top --fabric --json: missing, or counters
service() {
	dxp top --fabric --json --switch 127.0.0.9 >"$scratch/services.json"
	python3 -c 'import json, sys
for s in json.load(open(sys.argv[1]))["services"]:
    if s["role"] == sys.argv[2]:
        print(s.get("missing") or json.dumps(s["counters"]), s.get("pid", ""))' \
		"$scratch/services.json" "$1"
}

say "== the manager and a switch"
refuse 2 '--switch needs --fabric' dxp top --once --switch 127.0.0.9
refuse 1 "'here' is not the address of a switch" dxp top --fabric --once --switch here
dxp top --fabric --once --interval 100 >"$scratch/table"
expect 'SERVICE  NAME' "$scratch/table"
grep -Eq "^manager .* $manager .* $(process_of manager) .* nodes_alive 3" "$scratch/table" ||
	die "no counters of the manager: $(cat "$scratch/table")"
if [ -n "${STATS_NAMESPACE:-}" ] && command -v python3 >/dev/null; then
	refuse 6 'file' dxp-switch --address 127.0.0.9 --key "$scratch/none"
	dxp-switch --address 127.0.0.9 --plane user --name sw9 --key "$DXP_DIR/fabric.key" \
		>"$scratch/switch.log" 2>&1 &
	switch=$!
	wait_for '"groups_max": 256' service switch
	has -E " $switch\$" "$scratch/seen" || die "another process: $(cat "$scratch/seen")"
	dxp inc --switch 127.0.0.9 >/dev/null
	wait_for '"received": [1-9]' service switch
	dxp metrics --fabric --switch 127.0.0.9 >"$scratch/metrics"
	expect 'dxp_service_up{service="switch",address="127.0.0.9:4794"} 1' "$scratch/metrics"
	expect 'dxp_switch_groups_max{service="switch",address="127.0.0.9:4794"} 256' \
		"$scratch/metrics"
	# Stopped, then killed: the reader gives up, and shows the manager.
	kill -STOP "$switch"
	wait_for 'no answer' service switch
	kill -CONT "$switch"
	wait_for '"groups_max": 256' service switch
	kill "$switch"
	wait "$switch" || die "the switch ended with $?: $(cat "$scratch/switch.log")"
	# A switch with another key, and one without a key: no counters.
	dxp-switch --address 127.0.0.9 --plane user --key "$scratch/other.key" \
		>"$scratch/switch.log" 2>&1 &
	switch=$!
	wait_for 'switch' dxp inc --switch 127.0.0.9
	wait_for 'no answer' service switch
	has '"nodes_alive": 3' <(service manager) || die 'no counters of the manager'
	kill "$switch"
	wait "$switch" || die "the switch ended with $?: $(cat "$scratch/switch.log")"
	switch=''

	say "== a tree of switches, of which one is known"
	# switch_start LAST NAME OPTIONS...: starts the switch 127.0.0.LAST
	switch_start() {
		local last=$1 name=$2
		shift 2
		dxp-switch --address "127.0.0.$last" --plane user --name "$name" \
			--key "$DXP_DIR/fabric.key" "$@" >"$scratch/$name.log" 2>&1 &
		switch="$switch $!"
		wait_for "$name" dxp inc --switch "127.0.0.$last"
	}
	# tree: prints each switch with its parents and children
	tree() {
		dxp top --fabric --json --switch "$1" >"$scratch/services.json"
		python3 -c 'import json, sys
print(" ".join(sorted("{}:{}:{}".format(s.get("name") or s["address"],
    "+".join(s.get("parents", ["?"])), "+".join(sorted(s.get("children", ["?"]))))
    for s in json.load(open(sys.argv[1]))["services"] if s["role"] == "switch")))' \
			"$scratch/services.json"
	}
	switch_start 10 root
	switch_start 9 left --parent 127.0.0.10
	switch_start 11 right --parent 127.0.0.10
	# A parent is configured; a child is known after its first QUERY.
	wait_for '^left:127.0.0.10: root::$' tree 127.0.0.9
	DXP_INC_SWITCH=127.0.0.9 dxp inc test >"$scratch/seen"
	DXP_INC_SWITCH=127.0.0.11 dxp inc test >"$scratch/seen"
	all='^left:127.0.0.10: right:127.0.0.10: root::127.0.0.11\+127.0.0.9$'
	wait_for "$all" tree 127.0.0.9
	wait_for "$all" tree 127.0.0.11
	wait_for "$all" tree 127.0.0.10
	dxp metrics --fabric --switch 127.0.0.9 >"$scratch/metrics"
	expect 'dxp_service_up{service="switch",address="127.0.0.11:4794"} 1' "$scratch/metrics"
	! grep -q 'dxp_switch_parent\|dxp_switch_child' "$scratch/metrics" ||
		die 'addresses are shown as counters'
	dxp nodes --wide --switch 127.0.0.9 >"$scratch/table"
	expect ' right ' "$scratch/table"
	# shellcheck disable=SC2086 # several process ids
	kill $switch
	# shellcheck disable=SC2086 # several process ids
	wait $switch || die "a switch ended with $?: $(cat "$scratch/root.log")"
	switch=''
else
	left_out 'counters of a switch' 'no python3, or no network namespaces (root)'
fi

say "== the paths between nodes"
# path FROM TO: prints the state of a path, its answers and its MTU
path() {
	dxp paths --json >"$scratch/paths.json"
	python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["paths"]:
    if [p["from"], p["to"]] == sys.argv[2:]:
        print(p["state"], p["answered"], p["rtt_ns"] > 0,
              p["mtu_bytes"] == p["interface_mtu_bytes"])' \
		"$scratch/paths.json" "$1" "$2"
}
if command -v python3 >/dev/null; then
	wait_for 'open [0-9]+ True True' path xpu1 xpu2
	wait_for 'open [0-9]+ True True' path xpu2 xpu1
	wait_for 'no measured path is blocked' dxp paths
	dxp paths >"$scratch/table"
	grep -Eq '^xpu1 +- +[0-9]+ +[0-9]+$' "$scratch/table" || die "$(cat "$scratch/table")"
	dxp paths --list >"$scratch/table"
	grep -Eq '^xpu3 +xpu2 +open ' "$scratch/table" || die "$(cat "$scratch/table")"
else
	left_out 'dxp paths' 'no python3; tools/setup check'
fi
if [ -n "${STATS_NAMESPACE:-}" ] && command -v nft >/dev/null; then
	port=$(dxp nodes | sed -n 's/.* xpu2 .*127.0.0.1:\([0-9]*\).*/\1/p')
	other=$(dxp nodes | sed -n 's/.* xpu1 .*127.0.0.1:\([0-9]*\).*/\1/p')
	nft add table inet cut
	nft add chain inet cut output '{ type filter hook output priority 0; }'
	nft add rule inet cut output udp sport "$other" udp dport "$port" drop
	wait_for 'blocked: xpu1 -> xpu2: the last answer' dxp paths
	nft delete table inet cut
	wait_for 'no measured path is blocked' dxp paths
else
	left_out 'a blocked path' 'no nft, or no network namespaces (root)'
fi

say "== dxp nodes --wide"
dxp nodes --wide >"$scratch/table"
grep -Eq "^ +[0-9]+  xpu2 .* $daemon2 .* dxpd\$" "$scratch/table" ||
	die "no counters of xpu2: $(cat "$scratch/table")"
grep -Eq '^ +[0-9]+  xpu3 .* publishes nothing$' "$scratch/table" || die "$(cat "$scratch/table")"
grep -Eq '^manager  .* nodes_alive [0-9]' "$scratch/table" ||
	die "no counters of the manager: $(cat "$scratch/table")"
refuse 2 'needs --wide' dxp nodes --switch 127.0.0.9
dxp nodes --wide --json >"$scratch/wide.json"
expect '"stats_answered"' "$scratch/wide.json"
expect '"missing": "publishes nothing"' "$scratch/wide.json"
dxp nodes --json >"$scratch/wide.json"
! grep -q stats_answered "$scratch/wide.json" || die 'counters without --wide'

say "== its frames in a capture"
if command -v tshark >/dev/null; then
	dxp trace --node xpu1 --snap 1500 --output "$scratch/stats.pcapng" 2>/dev/null &
	tracer=$!
	for _ in {1..100}; do # repeats until the tracer is attached and has seen both frames
		dxp top --fabric --json >/dev/null
		tshark -X "lua_script:$here/tools/rltp.lua" -r "$scratch/stats.pcapng" \
			-T fields -e _ws.col.Info -e rltp.stats.name -e _ws.expert.message \
			2>/dev/null >"$scratch/frames" || true
		! has -E 'STATS_PAGE.*xpu1' "$scratch/frames" || break
	done
	kill -INT "$tracer" 2>/dev/null || true
	kill -TERM "$tracer" 2>/dev/null || true
	wait "$tracer" || true
	for text in 'STATS part node' 'STATS_PAGE part node' 'STATS_PAGE part sessions'; do
		expect "$text" "$scratch/frames"
	done
	grep -Eq 'STATS_PAGE.*xpu1' "$scratch/frames" || die "no name: $(cat "$scratch/frames")"
	! grep -Eqi 'sound frame|malformed' "$scratch/frames" || die "$(cat "$scratch/frames")"
else
	left_out 'what captures hold' 'no tshark; tools/setup check'
fi

say "== a node that does not answer"
# Repeated, because on a slow machine the lease may expire before dxp top reports the stopped daemon
# as silent.
for _ in {1..20}; do
	wait_for 'xpu2 .* alive' dxp nodes
	kill -STOP "$daemon2"
	begin=$SECONDS
	why=$(missing xpu2)
	took=$((SECONDS - begin))
	other=$(missing xpu1)
	kill -CONT "$daemon2"
	[ "$why" = dead ] || break
done
[ "$why" = 'no answer' ] || die "xpu2 is '$why'"
[ -z "$other" ] || die "xpu1 is '$other'"
[ "$took" -le 30 ] || die "the reader took $took s"
wait_for '"srtt_ns"|"counters"' dxp top --fabric --json --node xpu2
kill -9 "$daemon2"
wait "$daemon2" 2>/dev/null || true
wait_for '^xpu2 .* dead' dxp top --fabric --once --interval 100
dxp down
say passed
