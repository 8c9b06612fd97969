#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With a firewall that opens only the manager's port, `dxp ping`, `nodes` and `doctor` name the
# blocked port, and doctor's rule opens it. Then the other findings about the path.
#
#   near: dxp --- [10.76.0.1] v0 ==== v1 [10.76.0.2] --- far: dxp-manager, dxpd: xpu1
#                          MTU 9000                           nftables
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_namespaces.sh
. "$(dirname "$0")/lib_namespaces.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

without() {
	say "skipped: $*"
	exit 77
}
namespaces_make dxpf 10.76.0 ip nft ethtool
far ip link set lo up
near ethtool -K v0 gro on gso on >/dev/null
# No rule for established flows: with one, the node's probes to a host open its port for this host.
far nft -f - <<-'E'
	table inet filter {
		chain input {
			type filter hook input priority 0; policy drop;
			iif lo accept
			udp dport 4795 accept
		}
	}
E
at=(--manager 10.76.0.2 --key "$scratch/key")
part "$far" manager.log 'listening on' dxp-manager --key "$scratch/key" --new-key \
	--state "$scratch/state" --bind 10.76.0.2 --admit key --grants any
part "$far" daemon.log xpu1 dxpd "${at[@]}" --engine none --memory 64M
daemon=$!

# fails TEXT COMMAND...: must fail in the near namespace and print the text.
fails() {
	refuse 1 "$1" ip netns exec "$near" "${@:2}"
}

# doctor OPTION...: runs in the near namespace, into $scratch/doctor.
doctor() {
	near dxp doctor "${at[@]}" "$@" >"$scratch/doctor" 2>&1
}

# finds PATTERN: fails unless a line of dxp doctor's output matches.
finds() {
	grep -E "$1" "$scratch/doctor" || die "no line matches '$1': $(cat "$scratch/doctor")"
}

say '== only the port of the manager is open'
readonly rule='nft insert rule inet filter input udp dport 4796 accept'
fails "data path blocked: xPU 'xpu1'" dxp ping "${at[@]}" xpu1 --count 1
expect "run on 10.76.0.2: $rule" "$scratch/out"
near dxp nodes "${at[@]}" | tee "$scratch/nodes"
expect 'alive, data path blocked' "$scratch/nodes"
near dxp nodes "${at[@]}" --json | has '"data_path": "blocked"' || die 'not in the JSON'
! doctor --to xpu1 || die 'dxp doctor does not fail'
finds '^fail +data port +blocked: UDP 10.76.0.2:4796'
expect "$rule" "$scratch/doctor"
opening=$(grep -o 'nft insert rule .* accept' "$scratch/doctor")
! doctor --all --json || die 'dxp doctor --all does not fail'
expect '"node": "xpu1"' "$scratch/doctor"

say '== the rule that is printed opens the port'
# shellcheck disable=SC2086 # $opening is several words
far $opening
near dxp ping "${at[@]}" xpu1 --count 10
near dxp nodes "${at[@]}" | tee "$scratch/nodes"
grep -q ' xpu1 .* alive  ' "$scratch/nodes" || die 'xpu1 is not alive'
! grep -q blocked "$scratch/nodes" || die 'still blocked'
doctor --to xpu1 || : # a check of this machine may fail, which is no error here
cat "$scratch/doctor"
for name in 'node table' 'data port' version 'round trip' 'path MTU' interface; do
	finds "^ok +$name " >/dev/null
done
grep -qE ' loss +[0-9]+ of [0-9]+ packets' "$scratch/doctor" || die 'no line about loss'
finds 'packets carry 8880 bytes of payload' >/dev/null # and 16 bytes of tag

say '== findings of a bad path'
# single datagrams, so that rules see their length
near ethtool -K v0 gro off gso off tx-udp-segmentation off >/dev/null
# The path carries 3000 bytes, less than the ends' MTU of 9000.
far nft insert rule inet filter input udp dport 4796 meta length '>' 3000 drop
# Drops 5 % of the packets to the node.
far nft insert rule inet filter input udp dport 4796 numgen random mod 100 '<' 5 drop
doctor --to xpu1 || :
finds '^warn +path MTU .* interfaces at both ends have'
finds '^warn +loss '
finds '^warn +interface .*GRO off, GSO off; ethtool -K v0'

say '== the other legs'
fails "not in the node table: no node named 'xpu9'" dxp ping "${at[@]}" xpu9
! doctor --to xpu9 || die 'dxp doctor --to xpu9 does not fail'
expect "the manager has no node named 'xpu9'" "$scratch/doctor"
refuse 2 'exclude each other' dxp doctor --to xpu1 --all
kill -STOP "$daemon"
near timeout 60 dxp ping "${at[@]}" xpu1 >"$scratch/out" 2>&1 || :
# a stopped process would not exit with the script
kill -CONT "$daemon"
expect 'node dead: ' "$scratch/out"
far nft insert rule inet filter input udp dport 4795 drop
fails 'manager unreachable: ' dxp ping "${at[@]}" xpu1
expect 'udp dport 4795 accept' "$scratch/out"
! doctor --to xpu1 || die 'dxp doctor does not fail without the manager'
finds '^fail +manager +UDP 10.76.0.2:4795 does not answer'

say '== ports'
far nft flush ruleset
# at NODE ADDRESS: fails unless the node table lists the node at this address.
at() {
	near dxp nodes "${at[@]}" >"$scratch/nodes"
	grep -q " $1 .* $2 " "$scratch/nodes" || die "$1 is not at $2: $(cat "$scratch/nodes")"
}
at xpu1 10.76.0.2:4796 # the first of the standard ports
part "$far" second.log next2 dxpd "${at[@]}" --engine none --memory 1M --name next --slots 2
at next1 10.76.0.2:4797
at next2 10.76.0.2:4798
part "$far" third.log high2 dxpd "${at[@]}" --engine none --memory 1M --name high --slots 2 \
	--port 5000
at high1 10.76.0.2:5000
at high2 10.76.0.2:5001
refuse 3 'UDP 10.76.0.2:5001: another program uses this port' \
	ip netns exec "$far" dxpd "${at[@]}" --engine none --memory 1M --name other --port 5001
refuse 2 'exceed port 65535' dxpd "${at[@]}" --engine none --port 65535 --slots 2
refuse 2 'exclude each other' dxpd "${at[@]}" --bind 127.0.0.1:5000 --port 5000
near dxp up --xpus 2 --memory 1M --engine none --port 0 --node-port 4900 >/dev/null
near dxp nodes | has ' xpu2 .* 127.0.0.1:4901 ' || die "dxp up --node-port: $(near dxp nodes)"
near dxp down >/dev/null

say '== the rules of the guide'
# rules PORTS: prints the nftables rules for these ports from docs/guide/install.md.
rules() {
	sed -n "s/^\(nft insert rule inet filter input udp dport $1 accept\)$/\1/p" \
		"${DXP_SOURCE:-$(dirname "$0")/../..}/docs/guide/install.md"
}
[ "$(rules 4795 | wc -l)" -eq 1 ] || die 'no rule for the manager'
[ "$(rules 4796-4859 | wc -l)" -eq 1 ] || die 'no rule for the xPUs'
far nft -f - <<-'END'
	table inet filter {
		chain input {
			type filter hook input priority 0; policy accept;
			iif lo accept
			drop
		}
	}
END
tries=0
for ports in 4795 4796-4859; do
	# shellcheck disable=SC2046 # the rule is several words
	far $(rules $ports)
done
until near dxp ping "${at[@]}" xpu1 --count 10; do # a busy machine may answer late
	[ $((tries += 1)) -lt 10 ] || die 'the rules do not open the ports'
done
# its port 5000 is not in the rules
fails "data path blocked: xPU 'high1'" dxp ping "${at[@]}" high1 --count 1
far nft flush ruleset

say '== all checks of several xPUs'
doctor --all || : # a check of this machine may fail, which is no error here
ports=$(grep -Ec '^ok +data port ' "$scratch/doctor" || :)
[ "$ports" -ge 2 ] || die "fewer than two xPUs answer: $(cat "$scratch/doctor")"
[ "$(grep -Ec '^(ok|warn|fail) +interface ' "$scratch/doctor")" -eq "$ports" ] ||
	die "not all xPUs have the last check: $(cat "$scratch/doctor")"

say '== dead xPUs'
kill -KILL "$daemon"
tries=0
until near dxp nodes "${at[@]}" | has ' xpu1 .* dead '; do
	[ $((tries += 1)) -lt 600 ] || die "xpu1 is not dead: $(near dxp nodes "${at[@]}")"
	sleep 0.1
done
! doctor --all || die 'dxp doctor --all does not fail with a dead xPU'
finds '^fail +node table +node [0-9]+ at 10.76.0.2:4796 is dead: .*systemctl restart dxpd'
finds '^ok +data port +UDP 10.76.0.2:4797 answers' # the others are checked, too

say '== commands that only look take no node id'
part "$far" none.log 'listening on' dxp-manager --key "$scratch/key" --state "$scratch/none" \
	--bind 10.76.0.2:4990 --admit key --grants any
at=(--manager 10.76.0.2:4990 --key "$scratch/key")
! doctor --all || die 'dxp doctor --all does not fail without xPUs'
finds '^fail +node table +the fabric has no xPU; .*dxp join'
near dxp nodes "${at[@]}"
part "$far" fourth.log "lone: node 1 " dxpd "${at[@]}" --engine none --memory 1M --name lone

say '== the governor of the processors'
if unshare -m true 2>/dev/null && [ -d /sys/devices/system/cpu ]; then
	unshare -m sh -c 'mount -t tmpfs none /sys/devices/system/cpu &&
		mkdir -p /sys/devices/system/cpu/cpu0/cpufreq &&
		echo powersave >/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor &&
		exec dxp doctor --all' >"$scratch/doctor" 2>&1 || :
	finds '^warn +CPU governor +powersave on 1 of 1 '
else
	left_out 'the governor' 'mount namespaces are not allowed'
fi
say passed
