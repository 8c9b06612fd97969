# SPDX-License-Identifier: BSD-3-Clause
# Three plots against the number of senders: the results of `dxp bench incast`.
set terminal svg size 1200,420 dynamic noenhanced font "sans-serif,12"
set multiplot layout 1,3 title "N hosts send 64 KiB messages to one, through a port of 1 Gb/s" \
	textcolor rgb "#808080"
set xlabel "senders"
set xtics (2, 4, 8)
set xrange [1.5:8.5]
set yrange [0:*]
set key off
set title "goodput, GB/s (0.125 is the port's rate)"
plot for [i=0:STATS_blocks - 1] data index i using 1:2 with linespoints linestyle i % 9 + 1 \
	title columnheader(1)
set title "packets dropped, %"
plot for [i=0:STATS_blocks - 1] data index i using 1:4 with linespoints linestyle i % 9 + 1 \
	title columnheader(1)
set key outside right top
set title "99th percentile of a message's time, ms"
plot for [i=0:STATS_blocks - 1] data index i using 1:($3 / 1000) \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
unset multiplot
