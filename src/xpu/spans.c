/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define SPANS_FIRST 16

void spans_free(struct spans *s)
{
	free(s->list);
	*s = (struct spans){0};
}

static bool room_ensure(struct spans *s)
{
	if (s->count < s->room)
		return true;
	uint32_t room = s->room ? 2 * s->room : SPANS_FIRST;
	struct span *list = realloc(s->list, room * sizeof(*list));
	if (!list)
		return false;
	s->list = list;
	s->room = room;
	return true;
}

/* Index of the first that ends beyond `address`, or the count. */
static uint32_t index_of(const struct spans *s, uint64_t address)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* `count` of them from `at` on become those in `with`; there is room. */
static void replace(struct spans *s, uint32_t at, uint32_t count, const struct span *with,
		    uint32_t with_count)
{
	struct span *list = s->list + at;

	memmove(list + with_count, list + count, (s->count - at - count) * sizeof(*list));
	memcpy(list, with, with_count * sizeof(*list));
	s->count += with_count - count;
}

bool spans_add(struct spans *s, uint64_t from, uint64_t end)
{
	/* The first one that it touches, too. */
	uint32_t at = from ? index_of(s, from - 1) : 0, last = at;
	struct span all = {from, end};

	if (from >= end)
		return true;
	if (!room_ensure(s))
		return false;
	for (; last < s->count && s->list[last].from <= end; last++) {
		all.from = min_u64(all.from, s->list[last].from);
		all.end = max_u64(all.end, s->list[last].end);
	}
	replace(s, at, last - at, &all, 1);
	return true;
}

bool spans_remove(struct spans *s, uint64_t from, uint64_t end)
{
	uint32_t at = index_of(s, from), last = at, kept = 0;
	struct span rest[2];

	if (from >= end)
		return true;
	if (!room_ensure(s))
		return false;
	for (; last < s->count && s->list[last].from < end; last++) {
		const struct span *l = &s->list[last];
		if (l->from < from)
			rest[kept++] = (struct span){l->from, from};
		if (l->end > end)
			rest[kept++] = (struct span){end, l->end};
	}
	replace(s, at, last - at, rest, kept);
	return true;
}

const struct span *spans_from(const struct spans *s, uint64_t address)
{
	uint32_t at = index_of(s, address);

	return at < s->count ? &s->list[at] : NULL;
}
