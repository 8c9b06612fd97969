# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth between two xPUs against the size of a transfer.
set title "One transfer between two xPUs, loopback"
set xlabel "bytes"
set ylabel "GB/s"
set logscale x 2
set yrange [0:*]
set format x "%.0b %BB"
set key left top
plot for [i=0:STATS_blocks - 1] data index i using 1:2 with linespoints linestyle i % 9 + 1 \
	title columnheader(1)
