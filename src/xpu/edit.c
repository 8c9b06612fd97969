/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY, FILL and MARK: what changes device memory without a kernel, in order with kernels on
 * the engine's lane. */
#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "link/udp.h"
#include "xpu/slot_internal.h"

struct edit {
	struct order order;
	struct engine_edit engine; /* its data lies in the work */
	bool from_held, to_held;
};

static int edit_run(struct order *o)
{
	struct edit *e = CONTAINER_OF(o, struct edit, order);

	return e->engine.op == COMMAND_MARK ? DXP_OK : engine_edit(o->job.slot->engine, &e->engine);
}

static void edit_end(struct order *o)
{
	struct edit *e = CONTAINER_OF(o, struct edit, order);
	struct arena *arena = o->job.slot->arena;

	if (e->from_held)
		arena_drop(arena, e->engine.from);
	if (e->to_held)
		arena_drop(arena, e->engine.to);
	free(e);
}

static const struct order_ops edit_ops = {.run = edit_run, .end = edit_end};

static const char *op_name(uint8_t op)
{
	return op == COMMAND_WRITE ? "WRITE" : op == COMMAND_COPY ? "COPY" : "FILL";
}

/* Holds [address, address + bytes), or says that it is none of this host's. */
static int range_hold(const struct edit *e, uint64_t address, uint64_t bytes, bool *held)
{
	struct tenant *t = e->order.work->tenant;

	*held = arena_hold(t->slot->arena, t->owner, address, bytes, NULL) == DXP_OK;
	if (*held)
		return DXP_OK;
	tenant_complain(t, "%s: %llu bytes at %#llx are in no allocation of this host",
			op_name(e->engine.op), (unsigned long long)bytes,
			(unsigned long long)address);
	return DXP_EACCESS;
}

static int from_take(struct edit *e, const struct command *c)
{
	uint64_t bytes;

	if (c->op != COMMAND_COPY)
		return DXP_OK;
	if (!command_box_span(&c->box, BOX_FROM, &bytes))
		return DXP_EINVAL;
	e->engine.from = c->address;
	return range_hold(e, c->address, bytes, &e->from_held);
}

static int to_take(struct edit *e, const struct command *c)
{
	uint64_t bytes = c->data_bytes;

	if (c->op == COMMAND_MARK)
		return DXP_OK;
	if (c->op != COMMAND_WRITE && !command_box_span(&c->box, BOX_TO, &bytes))
		return DXP_EINVAL;
	e->engine.to = c->op == COMMAND_COPY ? c->to_address : c->address;
	return range_hold(e, e->engine.to, bytes, &e->to_held);
}

static int edit_prepare(struct edit *e, struct work *w)
{
	struct slot *s = w->tenant->slot;
	struct command c;
	int status = command_decode(w->data, w->bytes, &c);

	assert(status == DXP_OK); /* it was decoded when it came */
	order_init(&e->order, w, &edit_ops);
	e->from_held = e->to_held = false;
	e->engine = (struct engine_edit){
		.op = c.op,
		.memory = s->bridged ? NULL : arena_base(s->arena),
		.memory_bytes = arena_bytes(s->arena),
		.data = c.data,
		.data_bytes = c.data_bytes,
		.box = c.box,
	};
	status = from_take(e, &c);
	return status == DXP_OK ? to_take(e, &c) : status;
}

/* Everything that it waits for has ended. */
static bool mark_over(const struct work *w)
{
	uint64_t needs[COMMAND_WAITS_MAX];

	return command_op(w->data, w->bytes) == COMMAND_MARK &&
	       graph_unfinished(&w->graph, needs) == 0;
}

void edit_start(struct work *w)
{
	if (mark_over(w)) {
		w->started_ns = link_now_ns();
		work_done(w, DXP_OK);
		return;
	}
	struct edit *e = malloc(sizeof(*e));
	int status = e ? edit_prepare(e, w) : DXP_ENOMEM;
	if (status == DXP_OK) {
		order_post(&e->order);
		return;
	}
	if (e)
		edit_end(&e->order);
	work_done(w, status);
}
