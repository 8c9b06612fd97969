# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth of memory behind DMA against transfer length, with one line for each buffer size or each
# route. `what` is the property that all lines have in common.
set title what.(strstrt(picture, "local") ? ", local DMA" : ", bridged to the network")
set xlabel "bytes"
set ylabel "GB/s"
set yrange [0:*]
set logscale x 2
set xtics ("2" 2, "128" 128, "8 Ki" 8192, "256 Ki" 262144, "4 Mi" 4194304, "64 Mi" 67108864, \
	"1 Gi" 1073741824)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
