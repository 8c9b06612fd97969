/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest of repeated measurements. Disturbances only add time, so the smallest value is
 * nearest to the undisturbed one, provided that a second measurement confirms it. */
#ifndef MODEL_LEAST_H
#define MODEL_LEAST_H

#include <stdbool.h>

/* Start with all fields zero. */
struct model_least {
	double best, second; /* the two smallest values */
	unsigned count;      /* number of values added */
};

void model_least_add(struct model_least *l, double value);

/* Returns by how many percent the second smallest value exceeds the smallest; INFINITY: fewer than
 * two values. */
double model_least_spread(const struct model_least *l);

/* Returns true if the two smallest values differ by at most `percent`. */
bool model_least_agrees(const struct model_least *l, double percent);

#endif
