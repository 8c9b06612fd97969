# SPDX-License-Identifier: BSD-3-Clause
# Round trip against size, within one machine.
set title "Round trips of a message between two processes of one machine, median"
set xlabel "bytes"
set ylabel "us"
set logscale x 2
set logscale y
set xrange [6:2800]
set xtics ("8" 8, "64" 64, "256" 256, "2 Ki" 2048)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
