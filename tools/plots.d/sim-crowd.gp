# SPDX-License-Identifier: BSD-3-Clause
# Message times in a crowd, for each congestion control.
set title "The simulator: 99th percentile of a message's time, ".what
set xlabel "nodes"
set ylabel "us"
set logscale xy
plot for [i=0:STATS_blocks - 1] data index i using 1:3 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
