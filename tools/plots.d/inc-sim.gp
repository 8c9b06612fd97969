# SPDX-License-Identifier: BSD-3-Clause
# Duration of an allreduce among many hosts, in the simulator.
set title "The simulator: allreduce of 8 bytes against the number of hosts"
set xlabel "hosts"
set ylabel "us"
set logscale x 2
set logscale y
set xrange [3:5500]
set xtics ("4" 4, "16" 16, "64" 64, "256" 256, "1024" 1024, "4096" 4096)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
