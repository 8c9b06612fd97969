/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values, "1,2,4", "1..1M*2" or "10..50+10", and grids of several lists. Functions that
 * fail set error_text(). */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/parameter.h"

#define MODEL_SWEEP_VALUES 1024   /* of one list */
#define MODEL_SWEEP_LISTS  6      /* of one grid */
#define MODEL_SWEEP_POINTS 100000 /* of one grid: minutes of the fastest part */

struct model_sweep {
	const struct model_parameter *row;
	int64_t values[MODEL_SWEEP_VALUES];
	unsigned count;
};

struct model_grid {
	struct model_sweep lists[MODEL_SWEEP_LISTS];
	unsigned count;
};

/* Parses the values of a row. a..b alone doubles; *k multiplies; +s adds. `bare`: values need a
 * unit. DXP_EINVAL: does not parse, out of range, or more than MODEL_SWEEP_VALUES values. */
int model_sweep_parse(struct model_sweep *s, const struct model_parameter *row, bool bare,
		      const char *text);

/* Adds the list "NAME=VALUES". DXP_EINVAL: also when the grid passes its bounds. */
int model_grid_add(struct model_grid *g, const char *assignment);

/* Returns the number of points; 1 without lists. */
unsigned model_grid_points(const struct model_grid *g);

/* Sets the values of point `index` in `p`; the last list varies fastest. */
int model_grid_apply(const struct model_grid *g, unsigned index, struct model_parameters *p);

/* Returns the value of list `list` at point `index`. */
int64_t model_grid_value(const struct model_grid *g, unsigned index, unsigned list);

#endif
