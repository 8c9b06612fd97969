#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the columns OVERLAP, CORES and LIMIT of tools/train-demo with the times of two xPUs.
set -euo pipefail
. "$(dirname "$0")/../net/lib_text.sh"

script=$(cd "$(dirname "$0")/../.." && pwd)/tools/plots.d/overlap.awk
readonly script

# expects CORES TEXT: the input's columns on a machine with so many cores.
expects() {
	local got
	got=$(awk -v cores="$1" -f "$script")
	[ "$got" = "$2" ] || die "'$got', not '$2'"
}

# Sums are under way from 0 to 80 and from 90 to 110, the second one is the shortest. xPU 1 computes
# from 0 to 40, xPU 2 from 20 to 60 and from 80 to 100.
times() {
	printf '%s\n' '0 0 1' '0 1 1' '20 2 1' '40 1 -1' '60 2 -1' '80 0 -1' '80 2 1' \
		'90 0 1' '90 -1 1' '100 2 -1' '110 0 -1' '110 -1 -1'
}
times | expects 2 '40 50 %   45 %   80 %'
times | expects 1 '40 50 %   70 %   80 %'
times | expects 8 '40 50 %   45 %   80 %'
printf '%s\n' '0 1 1' '40 1 -1' | expects 2 -
echo passed
