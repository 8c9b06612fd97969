/* SPDX-License-Identifier: BSD-3-Clause */
/* The least of repeated measurements. Disturbance only adds time, so the least value is nearest to
 * the undisturbed one, provided that a second measurement confirms it. */
#ifndef MODEL_LEAST_H
#define MODEL_LEAST_H

#include <stdbool.h>

/* Starts zeroed. */
struct model_least {
	double best, second; /* the two least values */
	unsigned count;      /* number of values */
};

void model_least_add(struct model_least *l, double value);

/* Returns by how many percent the second exceeds the best; INFINITY: fewer than two values. */
double model_least_spread(const struct model_least *l);

/* Returns whether the two least values differ by at most `percent`. */
bool model_least_agrees(const struct model_least *l, double percent);

#endif
