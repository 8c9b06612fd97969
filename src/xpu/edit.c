/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY and FILL change device memory without a kernel, in order with kernels. Their ranges
 * are held; a worker executes them. */
#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

static void ranges_drop(struct work *w)
{
	const struct worker_edit *e = work_edit(w);
	const uint64_t addresses[] = {e->op == COMMAND_COPY ? e->from : e->to, e->to};

	for (uint8_t i = 0; i < w->held; i++)
		arena_drop(w->tenant->slot->arena, addresses[i]);
}

static void edit_end(struct order *o, const struct order_end *end)
{
	struct work *w = CONTAINER_OF(o, struct work, order);

	ranges_drop(w);
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

/* Logs a range that is not the host's. */
static int range_hold(struct work *w, enum command_rect_side side, uint64_t address)
{
	struct tenant *t = w->tenant;
	const struct worker_edit *e = work_edit(w);
	uint64_t bytes = e->data_bytes;

	if (e->op != COMMAND_WRITE && !command_rect_span(&e->rect, side, &bytes))
		return DXP_EINVAL;
	if (arena_hold(t->slot->arena, t->owner, address, bytes, NULL) == DXP_OK) {
		w->held++;
		return DXP_OK;
	}
	tenant_complain(t, "%s: %llu bytes at %#llx are in no allocation of this host",
			op_name(e->op), (unsigned long long)bytes, (unsigned long long)address);
	return DXP_EACCESS;
}

static int ranges_hold(struct work *w)
{
	const struct worker_edit *e = work_edit(w);
	int status = DXP_OK;

	if (e->op == COMMAND_COPY)
		status = range_hold(w, RECT_FROM, e->from);
	if (status == DXP_OK)
		status = range_hold(w, RECT_TO, e->to);
	return status;
}

static int edit_prepare(struct work *w)
{
	struct worker_edit *e = work_edit(w);

	e->need_count = work_needs(w, e->needs);
	w->order = (struct order){.tenant = w->tenant,
				  .ops = &edit_ops,
				  .kind = WORKER_EDIT,
				  .parts = {.first = e, .first_bytes = e->bytes}};
	return ranges_hold(w);
}

void edit_start(struct work *w)
{
	struct worker *worker = NULL;

	w->started_ns = clock_now_ns();
	int status = edit_prepare(w);
	if (status == DXP_OK)
		worker = worker_get(w->tenant, &status);
	if (worker) {
		worker_post(worker, &w->order);
		return;
	}
	ranges_drop(w);
	work_done(w, status);
}
