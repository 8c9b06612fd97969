# SPDX-License-Identifier: BSD-3-Clause
# Curves of the hardware model; tools/model-plots sets title, axes and scales.
set title titled
set xlabel across
set ylabel upward
if (logs eq "x" || logs eq "xy") { set logscale x }
if (logs eq "xy") { set logscale y } else { set yrange [0:*] }
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
