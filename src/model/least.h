/* SPDX-License-Identifier: BSD-3-Clause */
/* Disturbances only add time, so the smallest measurement is the truest if a second one confirms
 * it. */
#ifndef MODEL_LEAST_H
#define MODEL_LEAST_H

#include <stdbool.h>

/* All fields start as zero. */
struct model_least {
	double best, second; /* the two smallest */
	unsigned count;      /* of values */
};

void model_least_add(struct model_least *l, double value);

/* Returns the percent between the two smallest; INFINITY: fewer than two values. */
double model_least_spread(const struct model_least *l);

/* Returns true if the two smallest differ by at most `percent`. */
bool model_least_agrees(const struct model_least *l, double percent);

#endif
