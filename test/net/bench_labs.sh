#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that each lab of `dxp bench` is removed afterwards, even after a signal.
#
#   dxpb-PID-near [v0] ==== [v1] dxpb-PID-far       made and removed by dxp bench
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
out=$(mktemp --tmpdir dxp-labs.XXXXXX)
readonly out
trap 'rm -f "$out"' EXIT
die() { printf 'FAILED: %s\n' "$*"; cat "$out"; exit 1; }

[ "$(id -u)" -eq 0 ] || { echo 'needs root for network namespaces'; exit 77; }
for program in ip ethtool nft tc; do
	command -v $program >/dev/null || { echo "needs the program $program"; exit 77; }
done
ip netns add "dxpb-probe-$$" 2>/dev/null || { echo 'network namespaces are not allowed'; exit 77; }
entered=true
ip netns exec "dxpb-probe-$$" true 2>"$out" || entered=false
ip netns del "dxpb-probe-$$"
$entered || { echo "network namespaces cannot be entered: $(cat "$out")"; exit 77; }

# labs_of PID: prints the number of namespaces of the benchmark with this process id.
labs_of() { ip netns list | grep -c "^dxpb-$1-" || true; }

# ended_by SIGNAL BENCH...: starts the benchmark, and sends the signal when its lab exists.
ended_by() {
	local signal=$1 pid status=0
	shift
	"$dxp" bench "$@" >"$out" 2>&1 &
	pid=$!
	for _ in {1..2400}; do # at most 120 s
		[ "$(labs_of $pid)" -lt 2 ] || break
		sleep 0.05
	done
	[ "$(labs_of $pid)" -ge 2 ] || die "$* made no lab"
	kill "-$signal" $pid
	wait $pid || status=$?
	[ "$status" -gt 128 ] || die "$* ended with $status after SIG$signal"
	[ "$(labs_of $pid)" -eq 0 ] || die "$* left its lab behind after SIG$signal"
}

ended_by INT stream --lab veth-9000 --quick --rounds 99
ended_by TERM rate --lab veth-1500 --quick --rounds 99
ended_by HUP loss --quick --rounds 99
ended_by TERM incast --quick --rounds 99
ended_by TERM slots --quick --rounds 99

"$dxp" bench rate --lab wire-1500 --quick --rounds 1 --json >"$out" 2>/dev/null &
pid=$!
wait $pid || die "bench rate ended with $?"
[ "$(labs_of $pid)" -eq 0 ] || die 'bench rate left its lab behind'
grep -q '"bench":"rate","lab":"wire-1500","case":"NAP 64 B","contender":"RLTP"' "$out" ||
	die 'no row of ours'
grep -q '"cores":"\(near\|far\)"' "$out" || die 'a row without the label of the cores'

# GETs must make progress although packets of the answers are lost.
"$dxp" bench loss --case 'GET 1 MiB, 1 %' --only 'RLTP rack' --quick --rounds 1 --json \
	>"$out" 2>/dev/null || die "bench loss ended with $?"
grep -q '"case":"GET 1 MiB, 1 %","contender":"RLTP rack".*"value":[0-9.e-]*[1-9]' "$out" ||
	die 'no goodput of GETs with loss'
echo passed
