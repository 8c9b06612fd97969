/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/distance.h"

#include "base/util.h"

size_t distance_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t row[DISTANCE_BYTES_MAX + 1];

	a_bytes = min_u64(a_bytes, DISTANCE_BYTES_MAX);
	b_bytes = min_u64(b_bytes, DISTANCE_BYTES_MAX);
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
