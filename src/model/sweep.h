/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values ("1,2,4", "1..1M*2", "10..50+10"), and grids of several lists. A function that
 * fails sets error_text(). */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/parameter.h"

#define MODEL_SWEEP_VALUES 1024 /* values in a list, at most */
#define MODEL_SWEEP_LISTS  6    /* lists in a grid, at most */
/* points of a grid, at most: even the fastest part takes minutes for so many */
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

/* Parses the values for a row. In a range, a..b alone doubles the value, *k multiplies it by k, and
 * +s adds s. `bare`: values need a unit. DXP_EINVAL: does not parse, out of range, or more than
 * MODEL_SWEEP_VALUES values. */
int model_sweep_parse(struct model_sweep *s, const struct model_parameter *row, bool bare,
		      const char *text);

/* Adds the list "NAME=VALUES". DXP_EINVAL: see model_sweep_parse(); or the grid has a list for this
 * parameter already; or the grid is too large. */
int model_grid_add(struct model_grid *g, const char *assignment);

/* Rejects "NAME" or "NAME=VALUE" with DXP_EINVAL if the grid has a list for this parameter. */
int model_grid_refuse(const struct model_grid *g, const char *assignment);

/* Returns the number of points in the grid; 1 if it has no list. */
unsigned model_grid_points(const struct model_grid *g);

/* Sets the values of point `index` in *p. From point to point, the last list changes fastest. */
int model_grid_apply(const struct model_grid *g, unsigned index, struct model_parameters *p);

/* Returns the value of list number `list` at point `index`. */
int64_t model_grid_value(const struct model_grid *g, unsigned index, unsigned list);

#endif
