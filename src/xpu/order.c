/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of the engine's lane on the engine's thread: each runs when those before it have, unless
 * one that it waits for has just failed there. */
#include <stdlib.h>

#include <dxp/status.h>

#include "link/udp.h"
#include "xpu/slot_internal.h"

static struct order *order_of(struct worker_job *worker)
{
	return CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct order, job);
}

/* Engine's thread: has something that this one needs failed just before? */
static bool needs_failed(const struct order *o)
{
	for (uint8_t i = 0; i < o->need_count; i++)
		for (uint32_t k = 0; k < XPU_WORK_MAX; k++)
			if (o->job.slot->failed[k] == o->needs[i])
				return true;
	return false;
}

static void order_run(struct worker_job *worker)
{
	struct order *o = order_of(worker);
	struct slot *s = o->job.slot;
	struct work *w = o->work;

	w->started_ns = link_now_ns();
	o->status = needs_failed(o) ? DXP_ECANCELED : o->ops->run(o);
	w->ended_ns = link_now_ns();
	o->ran = true;
	if (o->status != DXP_OK && w->graph.event)
		s->failed[s->failed_next++ % XPU_WORK_MAX] = w->graph.event;
}

static void order_done(struct job *j)
{
	struct order *o = CONTAINER_OF(j, struct order, job);
	struct work *w = o->work;
	int status = o->status;

	j->slot->jobs--;
	if (o->text[0])
		tenant_complain(w->tenant, "%s", o->text);
	o->ops->end(o);
	work_done(w, status);
}

static void order_drop(struct job *j)
{
	struct order *o = CONTAINER_OF(j, struct order, job);
	struct work *w = o->work;

	o->status = DXP_ECLOSED;
	o->ran = false;
	o->ops->end(o);
	graph_done(w->tenant->graph, &w->graph, DXP_ECLOSED);
	work_free(w);
}

void order_init(struct order *o, struct work *w, const struct order_ops *ops)
{
	o->job.slot = w->tenant->slot;
	o->work = w;
	o->ops = ops;
	o->status = DXP_OK;
	o->ran = false;
	o->text[0] = '\0';
	o->need_count = graph_unfinished(&w->graph, o->needs);
}

void order_post(struct order *o)
{
	o->job.slot->jobs++;
	job_post(o->job.slot, &o->job, order_run, order_done, order_drop);
}
