# SPDX-License-Identifier: BSD-3-Clause
# Reads lines "time node step", sorted by time: when a kernel of a node begins (step 1) or ends
# (-1), and the same for the sums of a run as node 0. Prints for each node in how much of the time
# in which a sum is under way it computes, in percent, or "-" without sums.

{
	if (under_way[0] > 0) {
		all += $1 - before
		for (node = 1; node <= nodes; node++)
			if (under_way[node] > 0)
				covered[node] += $1 - before
	}
	before = $1
	under_way[$2] += $3
	if ($2 > nodes)
		nodes = $2
}

END {
	if (all == 0) {
		print "-"
		exit
	}
	for (node = 1; node <= nodes; node++)
		printf "%.0f ", 100 * covered[node] / all
	print "%"
}
