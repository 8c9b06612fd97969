/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates reads limited by tags. Returned packets share a link; a tag is free after its read's
 * last packet. */
#include "model/tags.h"

#include "base/util.h"

#define MILLI       1000ull
#define WINDOW_MAX  1024u /* four times an 8-bit field's (C-34) */
#define CYCLES_KILO 1000ull

uint64_t model_tags_return_millicycles(const struct model_tags *t)
{
	uint64_t data = MILLI * t->request_bytes / t->datapath_bytes;

	return data + MILLI * t->packet_cycles * t->request_bytes / t->packet_bytes;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

uint32_t model_tags_least(const struct model_tags *t)
{
	uint64_t least = divide_up(MILLI * t->read_cycles, model_tags_return_millicycles(t));

	return (uint32_t)max_u64(least, 1);
}

uint32_t model_tags_cover(const struct model_tags *t)
{
	return (uint32_t)(t->tags * model_tags_return_millicycles(t) / MILLI);
}

uint64_t model_tags_simulated(const struct model_tags *t, uint32_t requests)
{
	uint64_t occupied = model_tags_return_millicycles(t), link_free = 0;
	/* of a request alone on the link */
	uint64_t idle = MILLI * t->read_cycles;
	uint64_t tag_free[WINDOW_MAX] = {0};
	uint32_t tags = (uint32_t)min_u64(t->tags, WINDOW_MAX);

	idle = idle > occupied ? idle - occupied : 0;
	for (uint32_t i = 0; i < requests; i++) {
		uint64_t begin = max_u64(tag_free[i % tags] + idle, link_free);
		link_free = begin + occupied;
		tag_free[i % tags] = link_free;
	}
	/* The first latency cannot be hidden, so it does not count. */
	uint64_t bytes = (uint64_t)requests * t->request_bytes;
	return bytes * CYCLES_KILO * MILLI / max_u64(link_free - min_u64(idle, link_free), 1);
}

uint64_t model_tags_closed(const struct model_tags *t)
{
	uint64_t occupied = model_tags_return_millicycles(t);
	uint64_t link = t->request_bytes * CYCLES_KILO * MILLI / max_u64(occupied, 1);
	uint64_t latency = max_u64(MILLI * t->read_cycles, occupied);
	uint64_t window = t->tags * t->request_bytes * CYCLES_KILO * MILLI / max_u64(latency, 1);

	return min_u64(link, window);
}
