# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth of PUTs against size, within one machine.
set title "PUTs between two processes of one machine"
set xlabel "bytes"
set ylabel "GB/s"
set logscale x 2
set logscale y
set xrange [48:90000000]
set xtics ("64" 64, "512" 512, "4 Ki" 4096, "64 Ki" 65536, "1 Mi" 1048576, "16 Mi" 16777216)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
