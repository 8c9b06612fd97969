/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "sum_internal.h"

static void none_begin(struct sum *s, uint32_t bucket, const cl_event *computed)
{
	(void)s;
	(void)bucket;
	(void)computed;
}

static void none_end(struct sum *s, uint32_t bucket, cl_event *summed)
{
	(void)bucket;
	for (uint32_t i = 0; i < s->network->replica_count; i++)
		summed[i] = NULL;
}

static void none(struct sum *s)
{
	(void)s;
}

#define XPUS \
	.open = sum_xpus_open, .begin = sum_xpus_begin, .end = sum_xpus_end, .close = sum_xpus_close

const struct sum_way sum_ways[] = {
	{"xpus", "the xPUs add: by switches, ring or tree, as the library chooses", XPUS},
	{"switch", "the switches between the xPUs add", XPUS, .hint = CL_WAY_SWITCH_DXP},
	{"ring", "each xPU adds a part, around a ring", XPUS, .hint = CL_WAY_RING_DXP},
	{"host", "this program reads, adds and writes", sum_host_open, sum_host_begin, sum_host_end,
	 sum_host_close},
	{"none", "nothing is added: each xPU learns alone, for comparison", none, none_begin,
	 none_end, none, .apart = true},
};
const uint32_t sum_way_count = sizeof(sum_ways) / sizeof(*sum_ways);

const struct sum_way *sum_way_find(const char *name)
{
	for (uint32_t i = 0; i < sum_way_count; i++)
		if (strcmp(sum_ways[i].name, name) == 0)
			return &sum_ways[i];
	return NULL;
}

struct sum *sum_open(const struct sum_way *way, struct network *n)
{
	struct sum *s = allocate(1, sizeof(*s));

	s->way = way;
	s->network = n;
	way->open(s);
	return s;
}

void sum_close(struct sum *s)
{
	s->way->close(s);
	free(s);
}

void sum_begin(struct sum *s, uint32_t bucket, const cl_event *computed)
{
	s->way->begin(s, bucket, computed);
}

void sum_end(struct sum *s, uint32_t bucket, cl_event *summed)
{
	s->way->end(s, bucket, summed);
}

cl_mem sum_gradients(const struct sum *s, uint32_t bucket, uint32_t replica)
{
	return s->network->replicas[replica].buffers[GRADIENTS1 + s->network->buckets[bucket].last];
}

struct sum_totals sum_totals(struct sum *s)
{
	const struct sum_totals totals = s->totals;

	s->totals = (struct sum_totals){0};
	return totals;
}
