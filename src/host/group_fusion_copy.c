/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of fused allreduces between their buffers and memory of the group. Those in one direction
 * are an operation of the group, so the next operation of each member follows them. */
#include <stdlib.h>
#include <string.h>

#include "collective/limits.h"
#include "host/group.h"
#include "host/internal.h"

struct copies {
	struct dxp_group *g;
	struct group_operation *o;
	dxp_event *waits; /* of the next command */
	uint32_t wait_count;
};

static void wait_add(struct copies *c, dxp_event event)
{
	if (event)
		c->waits[c->wait_count++] = event;
}

static void event_keep(struct copies *c, uint32_t member, dxp_event event)
{
	c->o->events[c->o->event_count++] = (struct group_event){event, member, member};
}

static int mark(struct copies *c, uint32_t member, uint32_t count, dxp_event *event)
{
	const struct dxp_waits waits = {c->waits, count, true, false};
	int status = dxp_mark(c->g->xpus[member], &waits, event);

	if (status == DXP_OK)
		event_keep(c, member, *event);
	return status;
}

/* Lets marks wait for events that are too many for one command. */
static int waits_fold(struct copies *c, uint32_t member)
{
	while (c->wait_count > COMMAND_WAITS_MAX) {
		dxp_event event;
		int status = mark(c, member, COMMAND_WAITS_MAX, &event);
		if (status != DXP_OK)
			return status;
		c->wait_count -= COMMAND_WAITS_MAX;
		memmove(c->waits, c->waits + COMMAND_WAITS_MAX, c->wait_count * sizeof(*c->waits));
		wait_add(c, event);
	}
	return DXP_OK;
}

static int copy(struct copies *c, uint32_t member, uint64_t from, uint64_t to, uint64_t bytes,
		dxp_event *event)
{
	const struct dxp_rect line = {.row_bytes = bytes, .rows = 1, .slices = 1};
	int status = waits_fold(c, member);

	if (status != DXP_OK)
		return status;
	const struct dxp_waits waits = {c->waits, c->wait_count, true, false};
	status = dxp_copy(c->g->xpus[member], from, to, &line, &waits, event);
	if (status == DXP_OK)
		event_keep(c, member, *event);
	return status;
}

/* Copies the data of one call at one member. */
static int call_copy(struct copies *c, const struct dxp_collective *call, uint32_t member,
		     uint64_t offset, bool gather, dxp_event *event)
{
	const struct dxp_part *p = &call->parts[member];
	const uint64_t fused = c->g->fused->address[member] + offset;
	const uint64_t bytes = call->count * dxp_type_bytes(call->type);

	c->wait_count = 0;
	wait_add(c, c->g->ends[member]);
	for (uint32_t i = 0; i < p->wait_count && gather; i++)
		wait_add(c, p->wait[i]);
	return gather ? copy(c, member, p->from, fused, bytes, event)
		      : copy(c, member, fused, p->to, bytes, event);
}

static int member_copy(struct copies *c, struct dxp_collective *const *calls, uint32_t count,
		       uint32_t member, bool gather)
{
	dxp_event copied[COLLECTIVE_FUSED];
	uint64_t offset = 0;
	int status = DXP_OK;

	for (uint32_t i = 0; i < count && status == DXP_OK; i++) {
		const struct dxp_collective *call = calls[i];
		status = call_copy(c, call, member, offset, gather, &copied[i]);
		offset += call->count * dxp_type_bytes(call->type);
		const struct dxp_waits end = {&copied[i], 1, false, false};
		if (status == DXP_OK && !gather && call->events)
			status = dxp_mark(c->g->xpus[member], &end, &call->events[member]);
	}
	c->wait_count = 0;
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		wait_add(c, copied[i]);
	if (status == DXP_OK)
		status = waits_fold(c, member);
	if (status == DXP_OK)
		status = mark(c, member, c->wait_count, &c->o->ends[member]);
	return status == DXP_OK ? DXP_OK : group_blame(c->g, PLAN_ALLREDUCE, member, status);
}

/* Returns the most events that a command waits for. */
static size_t waits_most(const struct dxp_group *g, struct dxp_collective *const *calls,
			 uint32_t count)
{
	size_t most = count;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t m = 0; m < g->members; m++)
			most = max_u64(most, calls[i]->parts[m].wait_count);
	return most + 1;
}

/* Returns the most events of the operation: at each member, of each copy and the last mark, with
 * the marks that fold their waits. */
static size_t events_most(const struct dxp_group *g, uint32_t count, size_t waits)
{
	return (size_t)g->members * (count + 1) * (1 + waits / (COMMAND_WAITS_MAX - 1));
}

static int copies_post(struct dxp_group *g, struct dxp_collective *const *calls, uint32_t count,
		       bool gather)
{
	const size_t waits = waits_most(g, calls, count);
	struct copies c = {.g = g, .o = calloc(1, sizeof(*c.o))};
	int status = DXP_OK;

	c.waits = calloc(waits, sizeof(*c.waits));
	if (c.o)
		c.o->events = calloc(events_most(g, count, waits), sizeof(*c.o->events));
	if (!c.o || !c.o->events || !c.waits) {
		if (c.o)
			free(c.o->events);
		free(c.o);
		free(c.waits);
		return error_set(DXP_ENOMEM, "allreduce: out of memory to fuse it");
	}
	c.o->operation = PLAN_ALLREDUCE;
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++)
		status = member_copy(&c, calls, count, m, gather);
	free(c.waits);
	*g->end = c.o;
	g->end = &c.o->next;
	if (status != DXP_OK)
		return group_lose(g, status);
	memcpy(g->ends, c.o->ends, sizeof(g->ends));
	return DXP_OK;
}

int group_fusion_gather(struct dxp_group *g, struct dxp_collective *const *calls, uint32_t count)
{
	return copies_post(g, calls, count, true);
}

/* Without the last copies, the outputs are undefined. */
int group_fusion_scatter(struct dxp_group *g, struct dxp_collective *const *calls, uint32_t count)
{
	int status = copies_post(g, calls, count, false);

	return status == DXP_OK ? DXP_OK : group_lose(g, status);
}
