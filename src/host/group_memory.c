/* SPDX-License-Identifier: BSD-3-Clause */
/* Scratch memory of a group on its xPUs, and the programs that combine values. The first operation
 * that needs them creates them. */
#include <stdlib.h>

#include "collective/limits.h"
#include "host/combine.h"
#include "host/group.h"
#include "host/internal.h"

static void scratch_release(struct dxp_group *g, struct group_scratch *s, bool give)
{
	for (uint32_t m = 0; m < s->count && give; m++)
		if (g->xpus[m]->status == DXP_OK)
			dxp_mem_free(g->xpus[m], s->address[m]);
	free(s);
}

static void list_free(struct dxp_group *g, struct group_scratch **list, bool all, bool give)
{
	struct group_scratch **at = all || !*list ? list : &(*list)->next;

	while (*at) {
		struct group_scratch *s = *at;
		*at = s->next;
		scratch_release(g, s, give);
	}
}

void group_scratch_free(struct dxp_group *g, bool all, bool give)
{
	list_free(g, &g->scratch, all, give);
	list_free(g, &g->fused, all, give);
}

/* Rounds up to a power of two, so that a slightly longer operation rarely needs an allocation. */
static uint64_t rounded(const struct dxp_group *g, uint64_t bytes)
{
	uint64_t most = COLLECTIVE_SCRATCH_MIN;

	while (most < bytes)
		most *= 2;
	return min_u64(most, max_u64(bytes, g->options.scratch_bytes));
}

static int scratch_prepare(struct dxp_group *g, struct group_scratch **list,
			   enum plan_operation operation, uint64_t bytes)
{
	if (bytes == 0 || (*list && (*list)->bytes >= bytes))
		return DXP_OK;
	struct group_scratch *s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(DXP_ENOMEM, "out of memory");
	s->bytes = rounded(g, bytes);
	for (; s->count < g->members; s->count++) {
		int status = dxp_mem_alloc(g->xpus[s->count], s->bytes, &s->address[s->count]);
		if (status != DXP_OK) {
			group_blame(g, operation, s->count, status);
			scratch_release(g, s, true);
			return status;
		}
	}
	s->next = *list;
	*list = s;
	if (!g->first)
		group_scratch_free(g, false, true);
	return DXP_OK;
}

/* Returns the first member on the same xPU. This member has the program that both use. */
static uint32_t first_on(const struct dxp_group *g, uint32_t member)
{
	uint32_t first = 0;

	while (g->xpus[first] != g->xpus[member])
		first++;
	return first;
}

static int programs_prepare(struct dxp_group *g, enum plan_operation operation,
			    const struct dxp_collective *c)
{
	struct dxp_program **programs = g->programs[c->type][c->reduction];

	for (uint32_t m = 0; m < g->members; m++) {
		const uint32_t first = first_on(g, m);
		int status = DXP_OK;
		if (first == m && !programs[m])
			status = combine_build(g->xpus[m], c->type, c->reduction, &programs[m]);
		if (status != DXP_OK)
			return group_blame(g, operation, m, status);
		programs[m] = programs[first];
	}
	return DXP_OK;
}

int group_prepare(struct dxp_group *g, enum plan_operation operation,
		  const struct dxp_collective *c, uint64_t scratch_bytes)
{
	const bool combines = operation == PLAN_ALLREDUCE || operation == PLAN_REDUCE ||
			      operation == PLAN_REDUCE_SCATTER;
	int status = scratch_prepare(g, &g->scratch, operation, scratch_bytes);

	if (status == DXP_OK && combines && g->members > 1 && c->count)
		status = programs_prepare(g, operation, c);
	return status == DXP_EPEERLOST || status == DXP_EPEERRESET ? group_lose(g, status) : status;
}

int group_fused_prepare(struct dxp_group *g, uint64_t bytes)
{
	int status = scratch_prepare(g, &g->fused, PLAN_ALLREDUCE, bytes);

	return status == DXP_EPEERLOST || status == DXP_EPEERRESET ? group_lose(g, status) : status;
}

void group_programs_release(struct dxp_group *g)
{
	for (uint32_t t = 0; t < DXP_TYPES; t++)
		for (uint32_t r = 0; r < DXP_REDUCTIONS; r++)
			for (uint32_t m = 0; m < g->members; m++)
				if (g->programs[t][r][m] && first_on(g, m) == m)
					dxp_program_release(g->programs[t][r][m]);
}
