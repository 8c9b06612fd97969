/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/least.h"

#include <math.h>

void model_least_add(struct model_least *l, double value)
{
	if (l->count == 0 || value < l->best) {
		l->second = l->best;
		l->best = value;
	} else if (l->count == 1 || value < l->second) {
		l->second = value;
	}
	l->count++;
}

double model_least_spread(const struct model_least *l)
{
	if (l->count < 2 || !(l->best > 0))
		return INFINITY;
	return 100 * (l->second / l->best - 1);
}

bool model_least_agrees(const struct model_least *l, double percent)
{
	return model_least_spread(l) <= percent;
}
