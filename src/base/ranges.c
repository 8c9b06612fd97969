/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void ranges_free(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){0};
}

bool ranges_reserve(struct ranges *r, uint32_t more)
{
	if (r->space - r->count >= more)
		return true;
	uint32_t space = r->count + more + r->count / 2;
	struct range *at = realloc(r->at, space * sizeof(*at));
	if (!at)
		return false;
	r->at = at;
	r->space = space;
	return true;
}

/* First range that ends at or after `start`. */
static uint32_t find(const struct ranges *r, uint64_t start)
{
	uint32_t low = 0, high = r->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->at[middle].end < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool replace(struct ranges *r, uint32_t first, uint32_t last, const struct range *with,
		    uint32_t count)
{
	uint32_t behind = r->count - last;

	if (count > last - first && !ranges_reserve(r, count - (last - first)))
		return false;
	if (behind)
		memmove(r->at + first + count, r->at + last, behind * sizeof(*r->at));
	for (uint32_t i = 0; i < count; i++)
		r->at[first + i] = with[i];
	r->count = first + count + behind;
	return true;
}

bool ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	uint32_t first = find(r, start), last = first;
	struct range whole = {start, end};

	for (; last < r->count && r->at[last].start <= end; last++) {
		whole.start = min_u64(whole.start, r->at[last].start);
		whole.end = max_u64(whole.end, r->at[last].end);
	}
	return replace(r, first, last, &whole, 1);
}

bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	uint32_t first = find(r, start), last = first, rest = 0;
	struct range left[2];

	for (; last < r->count && r->at[last].start < end; last++) {
		const struct range *x = &r->at[last];
		if (x->start < start)
			left[rest++] = (struct range){x->start, min_u64(x->end, start)};
		if (x->end > end)
			left[rest++] = (struct range){end, x->end};
	}
	return replace(r, first, last, left, rest);
}

bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out)
{
	for (uint32_t i = find(r, start); i < r->count && r->at[i].start < end; i++) {
		struct range x = {max_u64(r->at[i].start, start), min_u64(r->at[i].end, end)};
		if (x.start < x.end) {
			*out = x;
			return true;
		}
	}
	return false;
}

bool ranges_has(const struct ranges *r, uint64_t start, uint64_t end)
{
	struct range x;

	return start >= end || (ranges_next(r, start, end, &x) && x.start == start && x.end == end);
}
