# SPDX-License-Identifier: BSD-3-Clause
# Reads lines "time node step", sorted by time: when a kernel of a node begins (step 1) or ends
# (-1), and the same for the sums of a run as node 0. Sums of the shortest length are also node -1.
# `cores`: number of cores of the machine. Without sums, prints "-". Otherwise prints, in percent of
# the time in which a sum is under way:
#
#   OVERLAP   for each node, in how much of it the node computes
#   CORES     how much of the cores, or of as many as there are nodes, the nodes' kernels use
#   LIMIT     in how much of it only longer sums are under way. The shortest sum of a step is that
#             of the gradients computed last: nothing is left to compute before it arrives.

{
	if (under_way[0] > 0) {
		span = $1 - before
		all += span
		busy = 0
		for (node = 1; node <= nodes; node++)
			if (under_way[node] > 0) {
				covered[node] += span
				busy++
			}
		used[busy] += span
		if (under_way[-1] == 0)
			longer += span
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
	if (cores > nodes)
		cores = nodes
	for (busy in used)
		share += used[busy] * (busy < cores ? busy : cores) / cores
	printf "%%  %3.0f %%  %3.0f %%\n", 100 * share / all, 100 * longer / all
}
