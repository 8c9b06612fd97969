/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles operations: computes the number of segments, delivers results in order, completes
 * operations. */
#include <string.h>

#include <dxp/status.h>

#include "inc/internal.h"
#include "wire/limits.h"

static size_t elements_per_segment(const struct inc_group *g, const struct inc_operation *c)
{
	return g->o.segment_bytes / dxp_inc_type_bytes(c->type);
}

size_t operation_elements_before(const struct inc_group *g, const struct inc_operation *c,
				 uint32_t index)
{
	return min_u64((uint64_t)index * elements_per_segment(g, c), c->elements);
}

bool operation_short(const struct inc_operation *c)
{
	return c->segments == 1 && c->elements * dxp_inc_type_bytes(c->type) <= INC_SHORT_BYTES;
}

bool inc_operation_fast(const struct inc_operation *c)
{
	if (c->collective == INC_BARRIER)
		return true;
	if (c->collective == INC_BROADCAST ||
	    c->elements * dxp_inc_type_bytes(c->type) > INC_SHORT_BYTES)
		return false;
	return (c->op == DXP_INC_SUM || c->op == DXP_INC_MIN || c->op == DXP_INC_MAX) &&
	       (c->type == DXP_INC_INT32 || c->type == DXP_INC_INT64 || c->type == DXP_INC_FLOAT ||
		c->type == DXP_INC_DOUBLE);
}

enum pace operation_pace(const struct inc_group *g, const struct inc_operation *c)
{
	if (g->o.planes & INC_PLANE_KERNEL && inc_operation_fast(c))
		return PACE_FAST;
	return operation_short(c) ? PACE_SHORT : PACE_LONG;
}

struct inc_operation *operation_of(const struct inc_group *g, uint32_t segment)
{
	for (struct inc_operation *c = g->operations; c; c = c->next)
		if (segment - c->first_segment < c->segments)
			return c;
	return NULL;
}

static void operation_finish(struct inc_group *g, int status, size_t done_elements)
{
	struct inc_operation *c = g->operations;

	g->operations = c->next;
	if (!g->operations)
		g->operations_tail = &g->operations;
	if (g->sending == c)
		g->sending = c->next;
	c->status = status;
	c->done_elements = done_elements;
	c->done = true;
	g->operations_done++;
}

static int operation_check(const struct inc_group *g, const struct inc_operation *c)
{
	bool arithmetic = c->collective == INC_ALLREDUCE || c->collective == INC_REDUCE;

	if (c->collective < INC_ALLREDUCE || c->collective > INC_BARRIER || c->root >= g->o.count)
		return DXP_EINVAL;
	if (!arithmetic && (c->op != DXP_INC_NOOP || c->type != DXP_INC_BYTES))
		return DXP_EINVAL;
	if (c->collective == INC_BARRIER && c->elements > 0)
		return DXP_EINVAL;
	if (arithmetic && !dxp_inc_defined(c->op, c->type))
		return DXP_EINVAL;
	if (group_compat(g) && (c->collective != INC_ALLREDUCE ||
				c->elements * dxp_inc_type_bytes(c->type) > INC_SHORT_BYTES))
		return DXP_EUNSUPPORTED;
	if (arithmetic ? !inc_group_accepts(g, c->op, c->type, c->elements)
		       : c->elements > UINT32_MAX)
		return DXP_EUNSUPPORTED;
	return DXP_OK;
}

int inc_group_start(struct inc_group *g, struct inc_operation *operation, uint64_t now_ns)
{
	int status = operation_check(g, operation);

	if (status != DXP_OK)
		return status;
	if (g->state != GROUP_LIVE)
		return DXP_EPEERLOST;
	operation->next = NULL;
	operation->done = false;
	operation->sent = operation->received = 0;
	operation->first_segment = g->end;
	if (operation->elements == 0 && operation->collective != INC_BARRIER) {
		operation->done = true;
		operation->status = DXP_OK;
		operation->done_elements = 0;
		g->operations_done++;
		return DXP_OK;
	}
	size_t per_segment = elements_per_segment(g, operation);
	operation->segments =
		operation->elements == 0
			? 1
			: (uint32_t)((operation->elements + per_segment - 1) / per_segment);
	if (!g->operations)
		g->progress_ns = now_ns;
	*g->operations_tail = operation;
	g->operations_tail = &operation->next;
	if (!g->sending)
		g->sending = operation;
	g->end += operation->segments;
	return DXP_OK;
}

static void result_copy(const struct inc_group *g, const struct inc_operation *c, uint32_t segment)
{
	size_t type_bytes = dxp_inc_type_bytes(c->type);
	size_t before = operation_elements_before(g, c, segment - c->first_segment);
	size_t after = operation_elements_before(g, c, segment - c->first_segment + 1);

	if (c->receive && after > before)
		memcpy((uint8_t *)c->receive + before * type_bytes, result_bytes(g, segment),
		       (after - before) * type_bytes);
}

/* Returns true if the next result may be delivered. A lost group delivers only the results before
 * `common`, even if more have arrived. */
static bool may_deliver(const struct inc_group *g)
{
	return g->operations && result_here(g, g->next) &&
	       (g->state == GROUP_LIVE || seq_before(g->next, g->common));
}

void operations_deliver(struct inc_group *g, uint64_t now_ns)
{
	while (may_deliver(g)) {
		struct inc_operation *c = g->operations;
		uint8_t status = result_address(g, g->next)->header.status;

		if (status == 0)
			result_copy(g, c, g->next);
		g->next++;
		g->progress_ns = now_ns;
		g->query_open = false;
		if (status != 0) {
			lose_begin(g, -(int)status, now_ns);
			return;
		}
		c->received = g->next - c->first_segment;
		if (c->received == c->segments)
			operation_finish(g, DXP_OK, c->elements);
	}
}

void operations_end(struct inc_group *g)
{
	const struct result *last = result_address(g, g->next - 1);
	bool refused = result_here(g, g->next - 1) && last->header.status != 0;
	int status = refused ? -(int)last->header.status : DXP_EPEERLOST;

	/* DXP_EAGAIN would mean that the operation still runs */
	if (status == DXP_EAGAIN)
		status = DXP_EIO;
	for (; g->operations; status = DXP_EPEERLOST)
		operation_finish(
			g, status,
			operation_elements_before(g, g->operations, g->operations->received));
}
