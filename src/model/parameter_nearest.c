/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known parameter nearest to an unknown name, by edit distance. */
#include <string.h>

#include <dxp/status.h>

#include "base/distance.h"
#include "base/error.h"
#include "base/util.h"
#include "model/parameter.h"

/* Returns the distance to the full name or to the one without unit, whichever is nearer. */
static size_t row_distance(const struct model_parameter *row, const char *name, size_t bytes)
{
	size_t full = min_u64(strlen(row->name), DISTANCE_BYTES_MAX);
	size_t least = distance_between(name, bytes, row->name, full);
	const char *suffix = strrchr(row->name, '_');

	if (row->unit[0] && suffix)
		least = min_u64(least, distance_between(name, bytes, row->name,
							(size_t)(suffix - row->name)));
	return least;
}

int model_parameter_unknown(const char *name, size_t name_bytes)
{
	size_t bytes = min_u64(name_bytes, DISTANCE_BYTES_MAX), least = SIZE_MAX;
	const char *nearest = "";

	for (unsigned i = 0; model_parameter_at(i); i++) {
		size_t d = row_distance(model_parameter_at(i), name, bytes);
		if (d >= least)
			continue;
		least = d;
		nearest = model_parameter_at(i)->name;
	}
	return error_set(DXP_ENOENT,
			 "there is no parameter '%.*s'; the nearest name is %s; `dxp model "
			 "parameters` lists all",
			 (int)bytes, name, nearest);
}
