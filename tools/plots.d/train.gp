# SPDX-License-Identifier: BSD-3-Clause
# Loss against time, a curve for each run; tools/train-demo writes the data.
set title titled
set xlabel "seconds of training"
set ylabel "mean loss of an epoch"
set logscale y
set autoscale yfixmin
set xrange [0:*]
plot for [i=0:STATS_blocks - 1] data index i using 1:2 \
	with linespoints linestyle i % 9 + 1 title columnheader(1)
