# SPDX-License-Identifier: BSD-3-Clause
# Reads the rows of a run of cl_train; load after json.awk. With mode=points, prints seconds and
# loss of each epoch. Otherwise prints the start of a line of a table: the values of the last epoch.

{
	parse($0)
	if (mode == "points")
		print f["seconds_all"], f["loss"]
}

END {
	if (mode != "points")
		printf "%4s  %-5s  %9.6f  %6.2f %%  %8.2f", f["xpus"], f["way"], f["loss"],
			f["accuracy"], f["seconds_all"]
}
