# SPDX-License-Identifier: BSD-3-Clause
# Goodput against loss; zero loss is drawn at the left end, because a logarithmic axis has no zero.
set title "1 MiB PUTs, one at a time, on a veth pair that cuts trains into packets (MTU 1500)"
set xlabel "packets lost, each alone, in either direction (%)"
set ylabel "GB/s"
set logscale xy
set xrange [0.004:14]
set yrange [0.0005:3]
set xtics ("0" 0.005, "0.01" 0.01, "0.1" 0.1, "1" 1, "5" 5, "10" 10)
plot for [i=0:STATS_blocks - 1] data index i using ($1 > 0 ? $1 : 0.005):2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
