# SPDX-License-Identifier: BSD-3-Clause
# Shares of eight functions on one NIC: two plots against the total number of bytes moved.
set terminal svg size 1000,420 dynamic noenhanced font "sans-serif,12"
set multiplot layout 1,2 title "8 functions of one NIC, PUTs of random sizes to each other" \
	textcolor rgb "#808080"
set xlabel "MB moved by all"
set logscale x
set xrange [0.9:110]
set xtics (1, 2, 5, 10, 20, 50, 100)
set key off
set title "Jain's index"
plot data index 0 using 1:2 with linespoints linestyle 1
set key inside right bottom
set title "who has least and most, in fair shares"
plot data index 0 using 1:6 with linespoints linestyle 2 title "least", \
	data index 0 using 1:7 with linespoints linestyle 3 title "most"
unset multiplot
