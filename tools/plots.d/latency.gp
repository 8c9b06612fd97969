# SPDX-License-Identifier: BSD-3-Clause
# Round trip against message size.
set title "Round trips on a veth pair (MTU 1500), both ends polling, median"
set xlabel "bytes"
set ylabel "us"
set logscale x 2
set logscale y
set xrange [3:90000]
set xtics ("4" 4, "64" 64, "1 Ki" 1024, "4 Ki" 4096, "16 Ki" 16384, "64 Ki" 65536)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
