# SPDX-License-Identifier: BSD-3-Clause
# Reads the rows of a run of cl_train; load after json.awk. With mode=points, prints seconds and
# loss of each epoch. With mode=steps, prints the number of steps. Otherwise prints the start of a
# line of a table: `label`, the values of the last epoch, the sums of a step, and how many of them
# started by switches.

{
	parse($0)
	steps += f["steps"]
	switched += f["by_switch"]
	sums += f["by_switch"] + f["by_ring"] + f["by_tree"]
	if (mode == "points")
		print f["seconds_all"], f["loss"]
}

END {
	if (mode == "steps")
		print steps
	else if (mode != "points")
		printf "%4s  %-16s  %9.6f  %6.2f %%  %7.2f  %4s  %6s", f["xpus"], label, f["loss"],
			f["accuracy"], f["seconds_all"], sums ? sums / steps : "-",
			sums ? sprintf("%.0f %%", 100 * switched / sums) : "-"
}
