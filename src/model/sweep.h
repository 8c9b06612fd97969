/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values ("1,2,4", "1..1M*2", "10..50+10"), and grids of lists. Failures set
 * error_text(). */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/parameter.h"

#define MODEL_SWEEP_VALUES 1024
#define MODEL_SWEEP_LISTS  6 /* per grid */
/* per grid: minutes even for the fastest part */
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

/* Ranges double (a..b), multiply (*k) or add (+s). `bare`: values need a unit. DXP_EINVAL: no
 * value, out of range, or more than MODEL_SWEEP_VALUES. */
int model_sweep_parse(struct model_sweep *s, const struct model_parameter *row, bool bare,
		      const char *text);

/* Adds "NAME=VALUES". DXP_EINVAL: as model_sweep_parse(), a second list of this parameter, or too
 * large. */
int model_grid_add(struct model_grid *g, const char *assignment);

/* Rejects "NAME" or "NAME=VALUE" with DXP_EINVAL if the grid has this parameter. */
int model_grid_refuse(const struct model_grid *g, const char *assignment);

/* Returns 1 without a list. */
unsigned model_grid_points(const struct model_grid *g);

/* Sets the values of point `index`; the last list changes fastest. */
int model_grid_apply(const struct model_grid *g, unsigned index, struct model_parameters *p);

/* Returns the value of list `list` at point `index`. */
int64_t model_grid_value(const struct model_grid *g, unsigned index, unsigned list);

#endif
