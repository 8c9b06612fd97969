/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "doors/opencl/ranges.h"

void ranges_free(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){0};
}

bool ranges_reserve(struct ranges *r, uint32_t more)
{
	if (r->room - r->count >= more)
		return true;
	uint32_t room = r->count + more + r->count / 2;
	struct range *at = realloc(r->at, room * sizeof *at);
	if (!at)
		return false;
	r->at = at;
	r->room = room;
	return true;
}

/* Index of the first range that ends at `start` or after it. */
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

/* Ranges [first, last) become the `count` ones in `with`. */
static void replace(struct ranges *r, uint32_t first, uint32_t last, const struct range *with,
		    uint32_t count)
{
	if (r->count > last)
		memmove(r->at + first + count, r->at + last, (r->count - last) * sizeof *r->at);
	for (uint32_t i = 0; i < count; i++)
		r->at[first + i] = with[i];
	r->count = r->count - (last - first) + count;
}

void ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	uint32_t first = find(r, start), last = first;
	struct range whole = {start, end};

	for (; last < r->count && r->at[last].start <= end; last++) {
		if (r->at[last].start < whole.start)
			whole.start = r->at[last].start;
		if (r->at[last].end > whole.end)
			whole.end = r->at[last].end;
	}
	replace(r, first, last, &whole, 1);
}

void ranges_remove(struct ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	uint32_t first = find(r, start), last = first, rest = 0;
	struct range left[2];

	for (; last < r->count && r->at[last].start < end; last++) {
		if (r->at[last].start < start)
			left[rest++] =
				(struct range){r->at[last].start,
					       r->at[last].end < start ? r->at[last].end : start};
		if (r->at[last].end > end)
			left[rest++] = (struct range){end, r->at[last].end};
	}
	replace(r, first, last, left, rest);
}

bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out)
{
	for (uint32_t i = find(r, start); i < r->count && r->at[i].start < end; i++) {
		struct range x = r->at[i];
		if (x.start < start)
			x.start = start;
		if (x.end > end)
			x.end = end;
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
