#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp model check` as a judge runs it: the whole table, a file with every withheld quantity
# in the spellings of docs/guide/model.md, and calibration with six rows of another machine than the
# one that the model was made for. Given figures must hold, and the errors of each goal must be
# printed.
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
readonly source=${DXP_SOURCE:?set by ctest}
scratch=$(mktemp --directory --tmpdir dxp-model-check.XXXXXX)
readonly scratch
trap '[ $failures -ne 0 ] || rm -rf "$scratch"' EXIT
failures=0

failed() {
	printf 'FAILED: %s\n' "$*"
	failures=$((failures + 1))
}

# a machine whose free parameters differ from the prior
readonly machine=(--set mpi_overhead=400ns --set intra=250ns --set inter=900ns
	--set nic_gap=50ns --set nic_latency=900ns --set compute=450ns)
"$dxp" model allreduce "${machine[@]}" --tsv |
	awk -F '\t' '$2 ~ /^allreduce (host|node|socket)$/ { print $2, $3, $6 }' >"$scratch/machine"
grep -E '^allreduce (host (4x8x4|16x64x256|9x32x4)|node (4x64x4|16x8x64)|socket 16x64x4) ' \
	"$scratch/machine" >"$scratch/six"
[ "$(wc -l <"$scratch/six")" -eq 6 ] || failed "six rows: $(cat "$scratch/six")"

# Writes each quantity in another spelling.
{
	for size in 64 256 1024 2048; do
		printf 'latency PUT %s 2000\nlatency_get %s 2.0us\n' "$size" "$size"
		printf 'Latency NAP-imm %sB 2000 ns\nlatency nap_ind %s 2 us\n' "$size" "$size"
	done
	for size in 1 2 4 8 16 32 64 128 256 512 1K 2KiB 4K 8K 16K 32K 64K 128K 256K 512K 1M; do
		printf 'bandwidth PUT %s 1 GB/s\nbandwidth get %s 1000MB/s\n' "$size" "$size"
	done
	for size in 1 64 2K; do
		printf 'bandwidth NAP-imm %s 500\nbandwidth nap-ind %s 0.5GB/s\n' "$size" "$size"
	done
	printf 'knee 4x2 0.6\nknee 4 x 4 70%%\nknee 8x2 0.55\nknee 8X4 65%%\nknee 16x4 0.6 share\n'
	for case in 4x2 4x4 8x2 8x4 16x4; do printf 'saturation %s 0.65\n' "$case"; done
	printf 'level message 1.6e6 cycles\n'
	sed 's/x/ x /g' "$scratch/machine" # also tests the spelling "9 x 32 x 64"
	printf 'allreduce winner 9x32x64 2\nallreduce gain 9x32x64 1.2\n'
	printf 'parts of PUT 1 B host store 50\nloss go-back-N NAK 1%% 0.5 Gb/s\n'
} >"$scratch/judge"

"$dxp" model check --judge "$scratch/judge" --calibrate "$scratch/six" --tsv \
	>"$scratch/table" 2>"$scratch/err" || failed "check ends $?: $(cat "$scratch/err")"

# verdict QUANTITY ROWS LIMIT: there must be an error row for so many rows, with a mean up to LIMIT.
verdict() {
	awk -F '\t' -v quantity="judged: error of $1" -v rows="$2 rows" -v limit="$3" '
		$2 == quantity && $3 == rows && $6 <= limit && $8 <= $6 && $6 <= $9 { found = 1 }
		END { exit !found }' "$scratch/table" ||
		failed "no '$1' of $2 rows within $3: $(grep '^	judged' "$scratch/table")"
}
verdict 'latency of PUT and GET' 8 100
verdict 'latency of NAPs' 8 100
verdict bandwidth 48 1000
verdict knee 5 100
verdict saturation 5 100
verdict level 1 100
verdict 'allreduce gain' 1 100
# 189 rows, without the six that calibration used.
verdict 'allreduce times' 183 15
awk -F '\t' '$2 == "judged: winners of allreduce" && $3 ~ / of 63$/ && $6 >= 90 { found = 1 }
	END { exit !found }' "$scratch/table" || failed 'winners of allreduce'
grep -q $'^\tjudged: order of knees\t' "$scratch/table" || failed 'order of knees'
[ "$(grep -c $'^N-11\tallreduce [hns].*\tcalibrated-on\t' "$scratch/table")" -eq 6 ] ||
	failed 'rows of calibration are not marked'
# A judged row must have its error.
grep -q $'^C-42\tlatency GET\t64\tns\t2000\t1850\t-7.5\t' "$scratch/table" || failed 'latency GET'

# test/net/model.sh has the sentences of parts that take less time.
grep -q $'^C-40\tpeak is flat above 128 B\t\t\t1\t1\t' "$scratch/table" || failed 'C-40: flat'

# Knees and saturations, with intervals over all settings, must equal the golden file; integer
# decisions are the same on every machine.
grep -E $'^C-44\t(knee|saturation)\t' "$scratch/table" | cut -f 1-4,6,8,9 >"$scratch/golden"
cmp "$scratch/golden" "$source/test/golden/model-crossbar.tsv" ||
	failed "rows moved; if that is meant: cp $scratch/golden test/golden/model-crossbar.tsv"

# An error must name the file that it is in.
printf 'allreduce host 4x8x4 none\n' >"$scratch/bad"
! "$dxp" model check --only N-11 --judge "$scratch/judge" --calibrate "$scratch/bad" \
	>"$scratch/out" 2>"$scratch/err" || failed 'a bad file of calibration passes'
grep -qF "$scratch/bad: line 1: the value" "$scratch/err" || failed "$(cat "$scratch/err")"
printf 'latency PUT 64 3GB/s\n' >"$scratch/bad"
! "$dxp" model check --only C-42 --judge "$scratch/bad" >"$scratch/out" 2>"$scratch/err" ||
	failed 'a wrong unit passes'
grep -qF "$scratch/bad: line 1: GB/s is no unit" "$scratch/err" || failed "$(cat "$scratch/err")"

[ $failures -eq 0 ]
