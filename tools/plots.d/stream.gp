# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth as bars, one group for each lab.
set title "Bandwidth between two processes: ".what
set ylabel "GB/s"
set yrange [0:*]
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.85 noborder
plot for [i=2:4] data using i:xticlabels(1) linestyle i - 1 title columnheader(i)
