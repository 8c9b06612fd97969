/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known parameter whose name is nearest to an unknown one, by edit distance. */
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/parameter.h"

#define NAME_BYTES 64 /* bytes compared: the longest name has 22 */

/* Returns the least number of inserted, deleted and replaced bytes between two names. */
static size_t distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t row[NAME_BYTES + 1];

	for (size_t k = 0; k <= b_bytes; k++)
		row[k] = k;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t k = 1; k <= b_bytes; k++) {
			size_t replaced = diagonal + (a[i - 1] != b[k - 1]);
			diagonal = row[k];
			row[k] = min_u64(replaced, min_u64(row[k], row[k - 1]) + 1);
		}
	}
	return row[b_bytes];
}

/* Returns the distance to a row's full name, or to its name without unit if that is less. */
static size_t row_distance(const struct model_parameter *row, const char *name, size_t bytes)
{
	size_t full = min_u64(strlen(row->name), NAME_BYTES);
	size_t least = distance(name, bytes, row->name, full);
	const char *suffix = strrchr(row->name, '_');

	if (row->unit[0] && suffix)
		least = min_u64(least,
				distance(name, bytes, row->name, (size_t)(suffix - row->name)));
	return least;
}

int model_parameter_unknown(const char *name, size_t name_bytes)
{
	size_t bytes = min_u64(name_bytes, NAME_BYTES), least = SIZE_MAX;
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
