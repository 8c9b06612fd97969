/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "sum_internal.h"

const struct sum_way sum_ways[] = {
	{"xpus", "the xPUs send to each other and add", sum_xpus_open, sum_xpus_begin, sum_xpus_end,
	 sum_xpus_close},
	{"host", "this program reads, adds and writes", sum_host_open, sum_host_begin, sum_host_end,
	 sum_host_close},
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

void sum_begin(struct sum *s, uint32_t layer, const cl_event *computed)
{
	s->way->begin(s, layer, computed);
}

void sum_end(struct sum *s, uint32_t layer, cl_event *summed)
{
	s->way->end(s, layer, summed);
}

uint64_t sum_host_bytes(struct sum *s)
{
	const uint64_t bytes = s->host_bytes;

	s->host_bytes = 0;
	return bytes;
}
