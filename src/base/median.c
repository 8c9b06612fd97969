/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/median.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t median_lower(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count ? values[(count - 1) / 2] : 0;
}
