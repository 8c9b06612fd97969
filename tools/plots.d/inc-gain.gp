# SPDX-License-Identifier: BSD-3-Clause
# Speed-up over TCP's best algorithm against message length.
set title "MPI_Allreduce over switches: times faster than TCP's best algorithm"
set xlabel "bytes"
set ylabel "times"
set logscale x 2
set xrange [3:1500000]
set yrange [0:*]
set xtics ("8" 8, "64" 64, "256" 256, "1 Ki" 1024, "4 Ki" 4096, "16 Ki" 16384, "64 Ki" 65536, \
	"1 Mi" 1048576)
plot 1 linecolor rgb "#8a8a8a" dashtype 2 title "TCP, best algorithm", \
	for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
