# SPDX-License-Identifier: BSD-3-Clause
# Style of all plots: no background, and greys and colours that are readable on white and on black.
# It is loaded first. `data` and `picture` are names of files.
set terminal svg size 880,500 dynamic noenhanced font "sans-serif,13"
set output picture
set border 3 linecolor rgb "#808080"
set grid linecolor rgb "#a0808080" linetype 1 linewidth 0.5
set tics nomirror textcolor rgb "#808080"
set key outside right top textcolor rgb "#808080" samplen 2
set title textcolor rgb "#808080"
set xlabel textcolor rgb "#808080"
set ylabel textcolor rgb "#808080"
set datafile missing "-"
array colours[9] = ["#3b82f6", "#e8820c", "#2e9e5b", "#e0454a", "#9b6bdf", "#14a3a8", "#a9744f", \
	"#d65fa5", "#8a8a8a"]
do for [i=1:9] {
	set style line i linecolor rgb colours[i] linewidth 2 pointtype 4 + i pointsize 0.7
}
# `stats` uses ranges, so it runs before any range is set
stats data using 0 nooutput
