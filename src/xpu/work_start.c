/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts ready commands, one host after the other. */
#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

static void network_start(struct work *w)
{
	switch (w->op) {
	case COMMAND_BRIDGE: pull_start(w); break;
	case COMMAND_ALLREDUCE: allreduce_start(w); break;
	case COMMAND_SETTLE: allreduce_settle(w); break;
	default: transfer_start(w);
	}
}

static void engine_start(struct work *w)
{
	if (w->op == COMMAND_RUN)
		launch_start(w);
	else
		edit_start(w);
}

static void mark_complete(struct work *w)
{
	w->started_ns = clock_now_ns();
	work_done(w, DXP_OK);
}

static void failed_report(struct work *w, int status)
{
	if (w->op == COMMAND_ALLREDUCE)
		allreduce_abandon(w->tenant, work_allreduce(w)->group);
	if (w->op == COMMAND_SETTLE)
		allreduce_settle_cancelled(w);
	work_report(w, status);
}

static uint32_t tenant_advance(struct tenant *t)
{
	struct graph_command *c;
	uint32_t work = 0;

	for (; (c = graph_next(t->graph, GRAPH_MARKS)); work++)
		mark_complete((struct work *)c);
	for (; !worker_full(t) && (c = graph_next(t->graph, GRAPH_ENGINE)); work++)
		engine_start((struct work *)c);
	for (; tenant_may_bulk(t) && (c = graph_next(t->graph, GRAPH_NETWORK)); work++)
		network_start((struct work *)c);
	for (; (c = graph_failed(t->graph)); work++)
		failed_report((struct work *)c, c->status);
	return work;
}

/* Moves the first tenant to the end, so that another tenant is first next time. */
static void pass_once(struct slot *s)
{
	struct tenant *t = s->tenants, **at = &s->tenants;

	if (!t || !t->next)
		return;
	s->tenants = t->next;
	while (*at)
		at = &(*at)->next;
	t->next = NULL;
	*at = t;
}

uint32_t works_advance(struct slot *s)
{
	uint32_t work = 0;

	pass_once(s);
	for (struct tenant *t = s->tenants; t; t = t->next)
		work += tenant_advance(t);
	return work;
}
