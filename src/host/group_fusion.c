/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuses short allreduces: collects them, and starts neighbours as one. If their buffers have gaps,
 * the data passes through memory of the group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/limits.h"
#include "host/group.h"
#include "host/internal.h"

/* `c` and its parts and wait lists are in one allocation. */
struct call {
	struct dxp_collective c;
	struct call *next;
	struct dxp_part parts[];
};

struct fusion {
	struct call *first, **end; /* in the order of the calls */
	/* first failure of calls that another operation has started; for dxp_fusion_end() */
	int status;
	char text[256];
};

/* Calls that become one allreduce. */
struct batch {
	struct dxp_collective *calls[COLLECTIVE_FUSED];
	uint32_t count;
	uint64_t elements;
	bool gapless; /* true: they need no copies */
};

static struct call *call_copy(const struct dxp_group *g, const struct dxp_collective *c)
{
	size_t waits = 0;

	for (uint32_t m = 0; m < g->members; m++)
		waits += c->parts[m].wait_count;
	const size_t parts_bytes = g->members * sizeof(struct dxp_part);
	struct call *call = calloc(1, sizeof(*call) + parts_bytes + waits * sizeof(dxp_event));
	if (!call)
		return NULL;
	dxp_event *at = (dxp_event *)(void *)(call->parts + g->members);
	call->c = *c;
	call->c.parts = call->parts;
	for (uint32_t m = 0; m < g->members; m++) {
		const struct dxp_part *p = &c->parts[m];
		call->parts[m] = *p;
		call->parts[m].wait = at;
		for (uint32_t i = 0; i < p->wait_count; i++)
			*at++ = p->wait[i];
	}
	return call;
}

int group_fusion_add(struct dxp_group *g, const struct dxp_collective *c)
{
	struct call *call = call_copy(g, c);

	if (!call)
		return error_set(DXP_ENOMEM, "allreduce: out of memory to collect it");
	*g->fusion->end = call;
	g->fusion->end = &call->next;
	return DXP_OK;
}

static void calls_free(struct fusion *f)
{
	while (f->first) {
		struct call *call = f->first;
		f->first = call->next;
		free(call);
	}
	f->end = &f->first;
}

/* ---- batches ---- */

static uint64_t call_bytes(const struct dxp_collective *c)
{
	return c->count * dxp_type_bytes(c->type);
}

static bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

/* Returns true if a later call uses an output of an earlier one, or overwrites its input. */
static bool depends(const struct dxp_group *g, const struct dxp_collective *earlier,
		    const struct dxp_collective *later)
{
	const uint64_t bytes = call_bytes(earlier), more = call_bytes(later);

	for (uint32_t i = 0; i < g->members; i++)
		for (uint32_t k = 0; k < g->members; k++) {
			const struct dxp_part *a = &earlier->parts[i], *b = &later->parts[k];
			if (g->xpus[i] == g->xpus[k] && (ranges_meet(a->to, bytes, b->from, more) ||
							 ranges_meet(a->to, bytes, b->to, more) ||
							 ranges_meet(a->from, bytes, b->to, more)))
				return true;
		}
	return false;
}

/* Returns true if a call begins where the batch ends, in memory that the first call may use. So all
 * are in one allocation: those of other allocations may be neighbours, too. */
static bool follows(const struct dxp_group *g, const struct batch *b,
		    const struct dxp_collective *c)
{
	const uint64_t before = b->elements * dxp_type_bytes(c->type);
	const uint64_t bytes = before + call_bytes(c);

	for (uint32_t m = 0; m < g->members; m++) {
		const struct dxp_part *first = &b->calls[0]->parts[m], *p = &c->parts[m];
		if (first->from + before != p->from || first->to + before != p->to ||
		    first->from_bytes < bytes || first->to_bytes < bytes)
			return false;
	}
	return true;
}

static uint64_t copied_bytes_max(const struct dxp_group *g)
{
	return min_u64(plan_switched_bytes(g->members), g->options.scratch_bytes);
}

/* Adds a call to the batch, or returns false if it must be in another one. */
static bool batch_add(const struct dxp_group *g, struct batch *b, struct dxp_collective *c)
{
	const struct dxp_collective *last = b->count ? b->calls[b->count - 1] : NULL;
	const uint64_t bytes = (b->elements + c->count) * dxp_type_bytes(c->type);
	bool gapless = true;

	if (b->count == COLLECTIVE_FUSED)
		return false;
	if (last) {
		gapless = b->gapless && follows(g, b, c);
		if (c->type != last->type || c->reduction != last->reduction ||
		    group_way(g, c) != group_way(g, last) || !c->count || !last->count ||
		    (!gapless && bytes > copied_bytes_max(g)))
			return false;
		for (uint32_t i = 0; i < b->count; i++)
			if (depends(g, b->calls[i], c))
				return false;
	}
	b->gapless = gapless;
	b->calls[b->count++] = c;
	b->elements += c->count;
	return true;
}

/* ---- start ---- */

/* Starts an allreduce of all elements of a batch at these addresses. */
static int whole_start(struct dxp_group *g, const struct batch *b, struct dxp_part *parts)
{
	struct dxp_collective whole = *b->calls[0];
	enum dxp_way way;

	whole.count = b->elements;
	whole.parts = parts;
	whole.events = NULL;
	whole.started = &way;
	for (uint32_t m = 0; m < g->members; m++)
		parts[m].from_bytes = parts[m].to_bytes = call_bytes(&whole);
	int status = group_start(g, PLAN_ALLREDUCE, &whole);
	if (status != DXP_OK)
		return status;
	g->ways.fused += b->count;
	for (uint32_t i = 0; i < b->count; i++)
		if (b->calls[i]->started)
			*b->calls[i]->started = way;
	return DXP_OK;
}

/* Copies the wait lists of all calls at a member to `out`. Returns their length. */
static uint32_t waits_copy(const struct batch *b, uint32_t member, dxp_event *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		const struct dxp_part *p = &b->calls[i]->parts[member];
		memcpy(out + count, p->wait, p->wait_count * sizeof(*out));
		count += p->wait_count;
	}
	return count;
}

static size_t waits_count(const struct dxp_group *g, const struct batch *b)
{
	size_t count = 1;

	for (uint32_t i = 0; i < b->count; i++)
		for (uint32_t m = 0; m < g->members; m++)
			count += b->calls[i]->parts[m].wait_count;
	return count;
}

/* Gives each call events of its own for the end of the whole operation. */
static int events_give(struct dxp_group *g, const struct batch *b)
{
	int status = DXP_OK;

	for (uint32_t i = 0; i < b->count; i++)
		for (uint32_t m = 0; b->calls[i]->events && m < g->members && status == DXP_OK;
		     m++) {
			const struct dxp_waits end = {&g->ends[m], 1, false, false};
			status = dxp_mark(g->xpus[m], &end, &b->calls[i]->events[m]);
			if (status != DXP_OK)
				group_blame(g, PLAN_ALLREDUCE, m, status);
		}
	return status == DXP_OK ? DXP_OK : group_lose(g, status);
}

static int gapless_start(struct dxp_group *g, const struct batch *b)
{
	struct dxp_part parts[DXP_GROUP_MEMBERS_MAX];
	dxp_event *waits = calloc(waits_count(g, b), sizeof(*waits)), *at = waits;

	if (!waits)
		return error_set(DXP_ENOMEM, "allreduce: out of memory to fuse it");
	for (uint32_t m = 0; m < g->members; m++) {
		const struct dxp_part *first = &b->calls[0]->parts[m];
		parts[m] = (struct dxp_part){.from = first->from, .to = first->to, .wait = at};
		parts[m].wait_count = waits_copy(b, m, at);
		at += parts[m].wait_count;
	}
	int status = whole_start(g, b, parts);
	free(waits);
	return status == DXP_OK ? events_give(g, b) : status;
}

static int copied_start(struct dxp_group *g, const struct batch *b)
{
	struct dxp_part parts[DXP_GROUP_MEMBERS_MAX] = {0};
	int status = group_fused_prepare(g, b->elements * dxp_type_bytes(b->calls[0]->type));

	if (status == DXP_OK)
		status = group_fusion_gather(g, b->calls, b->count);
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++)
		parts[m].from = parts[m].to = g->fused->address[m];
	if (status == DXP_OK)
		status = whole_start(g, b, parts);
	return status == DXP_OK ? group_fusion_scatter(g, b->calls, b->count) : status;
}

static int batch_start(struct dxp_group *g, const struct batch *b)
{
	if (b->count == 1)
		return group_start(g, PLAN_ALLREDUCE, b->calls[0]);
	return b->gapless ? gapless_start(g, b) : copied_start(g, b);
}

int group_fusion_flush(struct dxp_group *g)
{
	struct call *call = g->fusion->first;
	int status = DXP_OK;

	while (call && status == DXP_OK) {
		struct batch b = {.gapless = true};
		while (call && batch_add(g, &b, &call->c))
			call = call->next;
		status = batch_start(g, &b);
	}
	calls_free(g->fusion);
	if (status != DXP_OK && g->fusion->status == DXP_OK) {
		g->fusion->status = status;
		snprintf(g->fusion->text, sizeof(g->fusion->text), "%s", error_text());
	}
	return status;
}

/* ---- begin and end ---- */

void group_fusion_drop(struct dxp_group *g)
{
	if (g->fusion)
		calls_free(g->fusion);
	free(g->fusion);
	g->fusion = NULL;
}

static int begin(struct dxp_group *g)
{
	int status = group_lost(g);

	if (status != DXP_OK)
		return status;
	if (g->fusion)
		return error_set(DXP_EINVAL,
				 "fusion: it has begun already; call dxp_fusion_end() first");
	g->fusion = calloc(1, sizeof(*g->fusion));
	if (!g->fusion)
		return error_set(DXP_ENOMEM, "fusion: out of memory");
	g->fusion->end = &g->fusion->first;
	return DXP_OK;
}

int dxp_fusion_begin(struct dxp_group *group)
{
	pthread_mutex_lock(&group->lock);
	int status = begin(group);
	pthread_mutex_unlock(&group->lock);
	return status;
}

static int end(struct dxp_group *g)
{
	if (!g->fusion)
		return error_set(DXP_EINVAL,
				 "fusion: none has begun; call dxp_fusion_begin() first");
	(void)group_fusion_flush(g);
	return g->fusion->status == DXP_OK ? DXP_OK
					   : error_set(g->fusion->status, "%s", g->fusion->text);
}

int dxp_fusion_end(struct dxp_group *group)
{
	pthread_mutex_lock(&group->lock);
	int status = end(group);
	group_fusion_drop(group);
	pthread_mutex_unlock(&group->lock);
	return status;
}
