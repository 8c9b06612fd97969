# SPDX-License-Identifier: BSD-3-Clause
# Duration of an MPI program's allreduce against message length.
set title "MPI_Allreduce, " . what . ": mean time of a call"
set xlabel "bytes"
set ylabel "us"
set logscale x 2
set logscale y
set xrange [3:1500000]
set xtics ("8" 8, "64" 64, "256" 256, "1 Ki" 1024, "4 Ki" 4096, "16 Ki" 16384, "64 Ki" 65536, \
	"1 Mi" 1048576)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
