/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/tune.h"

#include "base/util.h"
#include "bridge/limits.h"

#define SIZE_FIRST   (16u << 10)
#define GOOD_PERCENT 97

size_t bridge_sizes(uint32_t *out, size_t count)
{
	size_t n = 0;

	for (uint32_t bytes = SIZE_FIRST; bytes <= BRIDGE_BUFFER_MAX && n < count; bytes *= 2)
		out[n++] = bytes;
	return n;
}

/* The slower direction limits the whole path. */
static uint64_t rate(const struct bridge_rate *row)
{
	return min_u64(row->in_bytes_per_s, row->out_bytes_per_s);
}

size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent)
{
	size_t chosen = count;
	uint64_t best = 0;

	for (size_t i = 0; i < count; i++)
		best = max_u64(best, rate(&rows[i]));
	if (best == 0)
		return count;

	uint64_t percent = good_percent ? good_percent : GOOD_PERCENT;
	uint64_t good = best / 100 * percent + best % 100 * percent / 100;
	for (size_t i = 0; i < count; i++) {
		if (rate(&rows[i]) >= good && rate(&rows[i]) > 0 &&
		    (chosen == count || rows[i].buffer_bytes < rows[chosen].buffer_bytes))
			chosen = i;
	}
	return chosen;
}
