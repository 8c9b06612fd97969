# SPDX-License-Identifier: BSD-3-Clause
# Reads lines "start end name", sorted: the sums of a run, named allreduce, and the kernels of one
# xPU. Prints in how much of the time of the sums the xPU computes, in percent, or "-" without sums.
# Kernels of one xPU do not overlap each other.

function meet(sum, from, to) {
	from = from > start[sum] ? from : start[sum]
	to = to < finish[sum] ? to : finish[sum]
	if (to > from)
		covered += to - from
}

$3 == "allreduce" {
	start[++sums] = $1
	finish[sums] = $2
	all += $2 - $1
	open[sums]
	meet(sums, kernel_start, kernel_finish) # the kernel that runs already
	next
}

{
	for (i in open)
		if (finish[i] < $1)
			delete open[i]
		else
			meet(i, $1, $2)
	kernel_start = $1
	kernel_finish = $2
}

END {
	print (all > 0 ? sprintf("%.0f %%", 100 * covered / all) : "-")
}
