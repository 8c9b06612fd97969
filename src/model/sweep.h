/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values ("1,2,4", "1..1M*2", "10..50+10"), and grids of several lists. A function that
 * fails sets error_text(). */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/parameter.h"

#define MODEL_SWEEP_VALUES 1024 /* values per list */
#define MODEL_SWEEP_LISTS  6    /* lists per grid */
/* points per grid: the fastest part takes minutes for so many */
#define MODEL_SWEEP_POINTS 100000

struct model_sweep {
	const struct model_parameter *row;
	int64_t values[MODEL_SWEEP_VALUES];
	unsigned count;
};

struct model_grid {
	struct model_sweep lists[MODEL_SWEEP_LISTS];
	unsigned count;
};

/* Parses values of a row. a..b alone doubles; *k multiplies; +s adds. `bare`: values need a unit.
 * DXP_EINVAL: does not parse, out of range, or more than MODEL_SWEEP_VALUES. */
int model_sweep_parse(struct model_sweep *s, const struct model_parameter *row, bool bare,
		      const char *text);

/* Adds the list "NAME=VALUES". DXP_EINVAL: as for model_sweep_parse(), or the parameter is swept
 * already, or the grid is too large. */
int model_grid_add(struct model_grid *g, const char *assignment);

/* Rejects NAME or NAME=VALUE if the grid sweeps this parameter: DXP_EINVAL. */
int model_grid_refuse(const struct model_grid *g, const char *assignment);

/* Returns the number of points; 1 without lists. */
unsigned model_grid_points(const struct model_grid *g);

/* Sets the values of point `index` in `p`. The last list varies fastest. */
int model_grid_apply(const struct model_grid *g, unsigned index, struct model_parameters *p);

/* Returns the value of list `list` at point `index`. */
int64_t model_grid_value(const struct model_grid *g, unsigned index, unsigned list);

#endif
