/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY, FILL and MARK: change device memory without a kernel, in order with kernels.
 * Their ranges are checked and held here; a worker executes them. */
#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

struct edit {
	struct order order;
	struct work *work;
	struct worker_needs message; /* precedes the command, which is in `work` */
	uint64_t from, to;
	bool from_held, to_held;
};

static void ranges_drop(struct edit *e)
{
	struct arena *arena = e->work->tenant->slot->arena;

	if (e->from_held)
		arena_drop(arena, e->from);
	if (e->to_held)
		arena_drop(arena, e->to);
}

static void edit_end(struct order *o, const struct order_end *end)
{
	struct edit *e = CONTAINER_OF(o, struct edit, order);
	struct work *w = e->work;

	ranges_drop(e);
	free(e);
	w->started_ns = end->started_ns;
	w->ended_ns = end->ended_ns;
	w->native = end->native;
	work_done(w, end->status);
}

static const struct order_ops edit_ops = {.end = edit_end};

static const char *op_name(uint8_t op)
{
	return op == COMMAND_WRITE ? "WRITE" : op == COMMAND_COPY ? "COPY" : "FILL";
}

/* Holds the range, or logs that it is not the host's. */
static int range_hold(struct tenant *t, uint8_t op, uint64_t address, uint64_t bytes, bool *held)
{
	*held = arena_hold(t->slot->arena, t->owner, address, bytes, NULL) == DXP_OK;
	if (*held)
		return DXP_OK;
	tenant_complain(t, "%s: %llu bytes at %#llx are in no allocation of this host", op_name(op),
			(unsigned long long)bytes, (unsigned long long)address);
	return DXP_EACCESS;
}

static int from_check(struct edit *e, const struct command *c)
{
	uint64_t bytes;

	if (c->op != COMMAND_COPY)
		return DXP_OK;
	if (!command_rect_span(&c->rect, RECT_FROM, &bytes))
		return DXP_EINVAL;
	e->from = c->address;
	return range_hold(e->work->tenant, c->op, e->from, bytes, &e->from_held);
}

static int to_check(struct edit *e, const struct command *c)
{
	uint64_t bytes = c->data_bytes;

	if (c->op == COMMAND_MARK)
		return DXP_OK;
	if (c->op != COMMAND_WRITE && !command_rect_span(&c->rect, RECT_TO, &bytes))
		return DXP_EINVAL;
	e->to = c->op == COMMAND_COPY ? c->to_address : c->address;
	return range_hold(e->work->tenant, c->op, e->to, bytes, &e->to_held);
}

static int edit_prepare(struct edit *e, struct work *w)
{
	struct command c;
	int status = command_decode(w->data, w->bytes, &c);

	assert(status == DXP_OK); /* it was decoded on arrival */
	e->work = w;
	e->from_held = e->to_held = false;
	e->order = (struct order){.tenant = w->tenant,
				  .ops = &edit_ops,
				  .kind = WORKER_EDIT,
				  .parts = {&e->message, w->data, sizeof(e->message), w->bytes}};
	e->message.event = w->graph.event;
	e->message.command_bytes = w->bytes;
	e->message.need_count = work_needs(w, e->message.needs);
	status = from_check(e, &c);
	return status == DXP_OK ? to_check(e, &c) : status;
}

/* Returns whether this is a MARK whose waits have all completed. */
static bool mark_over(const struct work *w)
{
	uint64_t needs[COMMAND_WAITS_MAX];

	return w->op == COMMAND_MARK && graph_unfinished(w->tenant->graph, &w->graph, needs) == 0;
}

static int edit_begin(struct work *w)
{
	struct edit *e = malloc(sizeof(*e));

	if (!e)
		return DXP_ENOMEM;
	int status = edit_prepare(e, w);
	struct worker *worker = status == DXP_OK ? worker_get(w->tenant, &status) : NULL;
	if (worker) {
		worker_post(worker, &e->order);
		return DXP_OK;
	}
	ranges_drop(e);
	free(e);
	return status;
}

void edit_start(struct work *w)
{
	w->started_ns = clock_now_ns();
	int status = DXP_OK;
	bool over = mark_over(w);
	if (!over)
		status = edit_begin(w);
	if (over || status != DXP_OK)
		work_done(w, status);
}
