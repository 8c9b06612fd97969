# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth of OpenCL transfers against size, one line for each driver; `what` is the direction.
set title "OpenCL: ".what
set xlabel "bytes"
set ylabel "GB/s"
set logscale x 2
set logscale y
set xtics ("4" 4, "4 Ki" 4096, "64 Ki" 65536, "1 Mi" 1048576, "8 Mi" 8388608, "64 Mi" 67108864, \
	"256 Mi" 268435456)
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
