# SPDX-License-Identifier: BSD-3-Clause
# Mean round trip of a 64-byte message against loss.
set title "64-byte ping-pong on the same pair, mean round trip"
set xlabel "packets lost, each alone, in either direction (%)"
set ylabel "us"
set logscale xy
set xrange [0.07:14]
set yrange [5:*]
set xtics ("0" 0.1, "1" 1, "10" 10)
plot for [i=0:STATS_blocks - 1] data index i using ($1 > 0 ? $1 : 0.1):2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
