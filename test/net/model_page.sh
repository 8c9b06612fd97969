#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the tables of docs/guide/model.md and model-hardware.md equal the output of `dxp
# model`: each answer to a what-if question, and each named prediction.
# shellcheck disable=SC2016 # lines of the pages have backticks
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
readonly source=${DXP_SOURCE:?set by ctest}
readonly page=$source/docs/guide/model.md hardware=$source/docs/guide/model-hardware.md
scratch=$(mktemp --directory --tmpdir dxp-model-page.XXXXXX)
readonly scratch
trap 'rm -rf "$scratch"' EXIT
failures=0

# line FILE TEXT: the page must contain this text.
line() {
	if ! grep -qF -- "$2" "$1"; then
		printf 'FAILED: %s has no: %s\n' "$1" "$2"
		failures=$((failures + 1))
	fi
}

# model FORMAT QUANTITY X ARGUMENT...: prints these rows' values as table columns.
model() {
	local format=$1 quantity=$2 x=$3
	shift 3
	"$dxp" model "$@" --tsv | awk -F '\t' -v format="$format" -v q="$quantity" -v x="$x" '
		$2 == q && $3 == x { printf "%s" format, separator, $6; separator = " | " }'
}

back_to_back() { # back_to_back ARGUMENT...: prints the bandwidth of PUTs of 1 MiB, in MB/s
	model %d 'bandwidth PUT' 1048576 nic --op put --bytes 1M --set host_overlap=yes "$@"
}

# Checks the page's figures for a wider datapath.
wide=(--set datapath_bytes=64 --set mtu_bytes=512)
both=$(back_to_back --sweep datapath_bytes=16,64)
line "$page" "| PUT of 1 MiB, MB/s | $both | $(back_to_back "${wide[@]}") |"
latency=(model %d 'latency PUT' 2048 nic --op put --bytes 2048)
both=$("${latency[@]}" --sweep datapath_bytes=16,64)
line "$page" "| latency of 2 KiB, ns | $both | $("${latency[@]}" "${wide[@]}") |"

# Checks the page's figures for PCIe 4.0.
wide=(--set datapath_bytes=64 --set pcie=4x8)
line "$page" "| PCIe 4.0 x8, 512 bits | $(back_to_back "${wide[@]}") |"
line "$page" "| and 256 tags | $(back_to_back "${wide[@]}" --set tags=256) |"
large=$(back_to_back --preset gen4-512)
line "$page" "| and packets of 512 B (\`gen4-512\`) | ${large%???},${large: -3} |"

# Checks the page's figures for 256 tags.
tags() { # tags COUNT: prints MB/s with this many tags, at 1000 cycles for each read
	model %d 'rate by tags, simulated' "$1" tags --set tags=256 --read 1000
}
line "$page" "32 tags give $(tags 32) MB/s, and 256 give the full $(tags 256)."
line "$page" "130 cycles, $(model %d 'tags least' 130 tags) tags suffice"

# Checks figures for several numbers of ports, in the text and in model-hardware.md.
"$dxp" model crossbar --knee --ports 4,8,16 --vcs 2,4 --tsv >"$scratch/knees"
share() { # share QUANTITY X: prints a share with three decimals
	awk -F '\t' -v q="$1" -v x="$2" '
		$2 == q && $3 == x { printf("%.3f", $6 < 0 && $6 > -0.0005 ? 0 : $6) }' \
		"$scratch/knees"
}
eight="8 ports saturate at $(share saturation 8x2) of the link"
line "$page" "$eight and 4 ports at $(share saturation 4x2)."
line "$page" "raise 8 ports to $(share saturation 8x4)."
while IFS='!' read -r quantity x low high; do
	[ "$quantity" = knee ] || continue
	row="| ${x/x/ x } | $(share knee "$x") | $(share saturation "$x") | $low .. $high |"
	for cause in 'a channel a port' 'source in any order' 'deep queues'; do
		gain=$(share "gain: $cause" "$x")
		# this crossbar already has one channel for each port
		[ "$x $cause" != '4x4 a channel a port' ] || gain=0
		row+=" $gain |"
	done
	line "$hardware" "$row"
done < <(awk -F '\t' '{ printf "%s!%s!%.3f!%.3f\n", $2, $3, $6, $7 }' \
	"$source/test/golden/model-crossbar.tsv")

# Checks the page's figures for an ASIC of 300 MHz.
latency=(model %d 'latency PUT' 64 nic --op put --bytes 64)
line "$page" "| latency, ns | $("${latency[@]}" --sweep clock=250MHz,300MHz,1GHz) |"
clocked=$(model %.0f 'parts of PUT 64 B' clocked nic --op put --bytes 64 --breakdown)
line "$page" "Only $clocked % of it"

# Checks the page's figures for topologies at 4,096 nodes.
"$dxp" model topology --nodes 4096 --tsv | awk -F '\t' '
	{ n = split($2, words, " "); key = words[n] }
	/distance, other nodes/ { mean = $6 }
	/diameter/ { diameter = $6 }
	$2 ~ / links$/ { links = $6 }
	$2 ~ / routers$/ { routers = $6 }
	/ports of a router/ { ports = $6 }
	$2 ~ / T$/ {
		format = mean < 10 ? "%.2f" : "%.1f"
		print sprintf(format, mean), diameter, routers, ports, links, sprintf("%.2f", $6)
	}' >"$scratch/topology"
[ "$(wc -l <"$scratch/topology")" -eq 9 ] || line "$page" 'nine topologies'
tr -d , <"$page" >"$scratch/page"
while read -r mean diameter routers ports links time; do
	line "$scratch/page" "| $mean | $diameter | $routers | $ports | $links | $time |"
done <"$scratch/topology"

# Checks the model of time against the matrix product of X-14, in rv32.md.
row=$("$dxp" model check --only X-14 --tsv | awk -F '\t' '
	$2 ~ /^matrix product/ { printf "| %.2f | %.2f | %.2f | %s |", $8, $6, $9, $5 }')
line "$source/docs/reference/rv32.md" "$row"

# Checks the named predictions of latencies.
for bytes in 64 256 1024 2048; do
	row="| $bytes |"
	for op in NAP-imm NAP-ind PUT GET; do
		row+=" $(model %d "latency $op" $bytes nic --op "${op,,}" --bytes $bytes) |"
	done
	line "$hardware" "$row"
done

[ $failures -eq 0 ]
