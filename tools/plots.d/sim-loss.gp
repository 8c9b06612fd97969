# SPDX-License-Identifier: BSD-3-Clause
# The simulator's goodput against loss, for each method of recovery.
set title "The simulator: goodput of 1 MiB messages against loss"
set xlabel "packets lost (%)"
set logscale x
set xrange [0.004:14]
set xtics ("0" 0.005, "0.01" 0.01, "0.1" 0.1, "1" 1, "5" 5, "10" 10)
set ylabel "Gb/s"
set yrange [0:*]
plot for [i=0:STATS_blocks - 1] data index i using ($1 > 0 ? $1 : 0.005):2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
