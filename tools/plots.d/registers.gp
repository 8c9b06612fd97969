# SPDX-License-Identifier: BSD-3-Clause
# Time against the number of register writes.
set title "Writes of CFG registers, 4 bytes each"
set xlabel "registers"
set ylabel "us"
set logscale xy 2
set xrange [0.8:1300]
set format y "%g"
set key left top
plot for [i=0:STATS_blocks - 1] data index i using 1:2 with linespoints linestyle i % 9 + 1 \
	title columnheader(1), 1000 with lines dashtype 2 linecolor rgb "#808080" \
	title "the source: about 1 ms"
