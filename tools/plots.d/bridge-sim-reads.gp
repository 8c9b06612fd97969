# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth of the simulated bridge against the number of outstanding reads.
set title "The simulator, host to device 64 MiB: outstanding reads"
set xlabel "outstanding reads"
set ylabel "MB/s"
set yrange [0:*]
set logscale x 2
set xtics (1, 2, 4, 8)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
