# SPDX-License-Identifier: BSD-3-Clause
# Messages per second. The axis is logarithmic, because the peers differ by a factor of 100.
set title "64-byte messages to one peer, each taken by the program there"
set ylabel "millions per second"
set logscale y
set yrange [0.05:30]
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.85 noborder
plot for [i=2:8] data using i:xticlabels(1) linestyle i - 1 title columnheader(i)
