#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests benchmarks of xPUs, not times. `registers`: each way has all rows, values are read back.
# `latency --parts`: parts add up. `direct`: only the ways through the host use it. `nic`: blocks of
# kernel and host arrive. `collective`: all sums are right, one way uses the host.
#
#   dxp bench --- 127.0.0.1 --- dxp-manager   dxpd: xpu1, ...
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

root=$(dirname "$0")/../..

# bench NAME [OPTION...]: writes the rows to $scratch/rows.
bench() {
	timeout 300 dxp bench "$@" --quick --rounds 1 --json >"$scratch/rows" 2>"$scratch/said" ||
		die "bench $* ended with $?: $(cat "$scratch/said" "$scratch/rows")"
}

# rows CASE CONTENDER METRIC COUNT: exactly COUNT rows must have a value. CASE may be part of a
# name.
rows() {
	local count
	count=$(grep -F "\"case\":\"$1" "$scratch/rows" | grep -F "\"contender\":\"$2\"" |
		grep -F "\"metric\":\"$3\"" | grep -cE '"value":[0-9.e-]*[1-9]' || true)
	[ "$count" -eq "$4" ] || die "$count of $4 rows: $1, $2, $3: $(cat "$scratch/rows")"
}

say "== registers"
bench registers
for access in write read; do
	for contender in 'host, one at a time' 'host, in blocks' kernel; do
		rows "$access " "$contender" time 11
	done
	rows "$access 1024" kernel time 1
	rows "$access " 'raw UDP round trip' time 11
done
rows 'write ' 'host, in a list' time 11
[ "$(grep -c '"peer":"raw UDP round trip"' "$scratch/rows")" -eq 77 ] || die 'rows without a peer'
bench registers --only kernel --case write
[ "$(wc -l <"$scratch/rows")" -eq 11 ] || die "--only and --case: $(cat "$scratch/rows")"
refuse 2 "'nonsense' is not an option" dxp bench registers nonsense
say "== the parts of a round trip"
bench latency --parts --lab loopback
for part in doorbell engine 'send call' wire receive placement acknowledgement completion; do
	[ "$(grep -cF "\"contender\":\"$part\"" "$scratch/rows")" -eq 3 ] || die "3 rows: $part"
done
# The sum is the mean of round trips near the median of the whole, so a missing part shows.
awk -F '"value":' '{ split($2, v, ",") }
	/"sum of the parts"/ { d = sum - v[1]; if (d * d > 1e-4 * v[1] * v[1]) bad = 1
		sums++; all = sum; sum = 0; next }
	/"whole, with stamps"/ { d = all - v[1]; if (d * d > 0.04 * v[1] * v[1]) bad = 1
		wholes++; next }
	/"contender":"whole/ { next }
	{ sum += v[1] }
	END { exit bad || sums != 3 || wholes != 3 }' "$scratch/rows" ||
	die "a wrong sum: $(cat "$scratch/rows")"
grep '"sum of the parts"' "$scratch/rows" | has '"difference_percent":' || die 'no difference'
say "== directly and through the host"
# field KEY: prints a number from each row on standard input.
field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"; }
bench direct --case transfer
for size in '4096 B' '1 Mb' '1 MiB'; do
	for contender in direct 'direct, read' 'through the host' 'through the host, overlapped'; do
		rows "transfer $size" "$contender" goodput 1
	done
done
host_bytes() { grep -F "\"contender\":\"$1\"" "$scratch/rows" | tail -n 1 | field host_bytes; }
awk -v direct="$(host_bytes direct)" -v host="$(host_bytes 'through the host')" \
	-v read="$(host_bytes 'direct, read')" \
	'BEGIN { exit !(direct < 1000 && read < 1000 && host >= 2 * 1048576) }' ||
	die "bytes through the host: $(cat "$scratch/rows")"
bench direct --case classifier --photo "$scratch/none"
expect 'skipped: no photo here' "$scratch/rows"
models=''
for folder in "${DXP_MODELS:-}" "$root/models" "$root/../shared/models"; do
	[ ! -r "$folder/chelsea-227.ppm" ] || [ ! -r "$folder/squeezenet1.1.tflite" ] ||
		models=$folder
done
if [ -n "$models" ] && [ -x "$DXP_BIN/classify" ]; then
	bench direct --case classifier --photo "$models/chelsea-227.ppm" \
		--model "$models/squeezenet1.1.tflite"
	for contender in direct 'through the host'; do
		rows classifier "$contender" 'one photo' 1
		rows classifier "$contender" pipelined 1
	done
	# The photo and the result pass the host in both ways, the data between the stages in one.
	read -r -d '' direct host < <(grep 'one photo' "$scratch/rows" | field host_bytes) || true
	awk -v direct="$direct" -v host="$host" \
		'BEGIN { exit !(direct > 0 && host > 1.2 * direct) }' ||
		die "bytes through the host: $(cat "$scratch/rows")"
else
	left_out 'the classifier' 'no SqueezeNet; DXP_MODELS names its folder'
fi
refuse 2 "'nonsense' is not an option" dxp bench direct nonsense
say "== allreduce among xPUs"
bench collective --case '2 xPUs'
for size in '1024 B' '64 KiB' '1 MiB'; do
	for contender in ring tree switch kernels 'through the host'; do
		rows "2 xPUs, $size" "$contender" time 1
	done
done
awk -v ring="$(host_bytes ring)" -v tree="$(host_bytes tree)" -v sw="$(host_bytes switch)" \
	-v host="$(host_bytes 'through the host')" \
	'BEGIN { exit !(ring < 10000 && tree < 10000 && sw < 10000 && host >= 4 * 1048576) }' ||
	die "bytes through the host: $(cat "$scratch/rows")"
say "== sent by a kernel and by its host"
bench nic --case 'block of a kernel'
for contender in device-driven CPU-driven 'CPU-driven, queued'; do
	rows 'block of a kernel' "$contender" 'time of a block' 3
done
say passed
