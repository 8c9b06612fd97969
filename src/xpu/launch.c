/* SPDX-License-Identifier: BSD-3-Clause */
/* RUN: a kernel that is ready goes to the engine's thread, its memory held until it has ended. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "link/udp.h"
#include "xpu/slot_internal.h"

struct launch {
	struct job job;
	struct work *work;
	struct port *port;      /* NULL: no argument is the NIC */
	struct command command; /* holds the kernel's name and the values */
	struct engine_launch engine;
	uint64_t needs[COMMAND_WAITS_MAX]; /* events of earlier launches on this thread that must
					      have gone well */
	uint8_t need_count;
	uint8_t held_count; /* arguments looked at, whose buffers are held */
	int status;
	char text[ENGINE_TEXT_BYTES];
};

/* What the kernel had. */
static void arguments_drop(struct launch *l)
{
	if (l->port)
		port_drop(l->job.slot, l->port);
	for (uint8_t i = 0; i < l->held_count; i++)
		if (l->command.arguments[i].kind == COMMAND_ARG_BUFFER &&
		    l->command.arguments[i].address != COMMAND_NO_ADDRESS)
			arena_drop(l->job.slot->arena, l->command.arguments[i].address);
}

static int port_take(struct launch *l, struct engine_argument *to)
{
	struct port *p = l->work->tenant->port;

	if (!p)
		return DXP_ENOENT;
	if (!l->port)
		port_hold(l->job.slot, p);
	l->port = p;
	to->memory = p->window;
	to->memory_bytes = sizeof(*p->window);
	return DXP_OK;
}

static int argument_take(struct launch *l, uint8_t i)
{
	const struct tenant *t = l->work->tenant;
	const struct command_argument *from = &l->command.arguments[i];
	struct engine_argument *to = &l->engine.arguments[i];

	*to = (struct engine_argument){
		.kind = from->kind, .bytes = from->bytes, .value = from->value};
	if (from->kind == COMMAND_ARG_NIC)
		return port_take(l, to);
	if (from->kind == COMMAND_ARG_IMAGE || from->kind == COMMAND_ARG_SAMPLER)
		return DXP_EUNSUPPORTED;
	if (from->kind != COMMAND_ARG_BUFFER || from->address == COMMAND_NO_ADDRESS)
		return DXP_OK;
	to->address = from->address;
	if (!t->slot->bridged)
		to->memory = arena_base(t->slot->arena) + from->address;
	return arena_hold(t->slot->arena, t->owner, from->address, 0, &to->memory_bytes);
}

static void argument_complain(const struct launch *l, uint8_t i)
{
	const struct command_argument *a = &l->command.arguments[i];

	if (a->kind == COMMAND_ARG_NIC)
		tenant_complain(l->work->tenant,
				"kernel '%s', argument %u: this host has asked for no NIC function",
				l->command.text, i);
	else
		tenant_complain(
			l->work->tenant,
			"kernel '%s', argument %u: address %#llx is in no allocation of this host",
			l->command.text, i, (unsigned long long)a->address);
}

static int arguments_take(struct launch *l)
{
	for (uint8_t i = 0; i < l->command.argument_count; i++) {
		int status = argument_take(l, i);
		if (status != DXP_OK) {
			argument_complain(l, i);
			return status;
		}
		l->held_count++;
	}
	return DXP_OK;
}

static int launch_prepare(struct launch *l)
{
	struct command *c = &l->command;
	int status = command_decode(l->work->data, l->work->bytes, c);

	assert(status == DXP_OK); /* it was decoded when it came */
	const struct program *p = program_find(l->work->tenant, c->program);
	if (!p)
		return DXP_ENOENT;
	if (!p->handle)
		return DXP_EBUILD;
	l->engine.program = p->handle;
	l->engine.kernel = c->text;
	l->engine.dimensions = c->dimensions;
	memcpy(l->engine.global, c->global, sizeof(c->global));
	memcpy(l->engine.local, c->local, sizeof(c->local));
	l->engine.argument_count = c->argument_count;
	status = arguments_take(l);
	l->need_count = graph_unfinished(&l->work->graph, l->needs);
	return status;
}

/* Engine's thread: has something that this one needs failed just before? */
static bool needs_failed(const struct launch *l)
{
	for (uint8_t i = 0; i < l->need_count; i++)
		for (uint32_t k = 0; k < XPU_WORK_MAX; k++)
			if (l->job.slot->failed[k] == l->needs[i])
				return true;
	return false;
}

static void launch_run(struct worker_job *worker)
{
	struct launch *l =
		CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct launch, job);
	struct slot *s = l->job.slot;

	l->work->started_ns = link_now_ns();
	l->status = needs_failed(l) ? DXP_ECANCELED : engine_run(s->engine, &l->engine, l->text);
	l->work->ended_ns = link_now_ns();
	if (l->status != DXP_OK && l->work->graph.event)
		s->failed[s->failed_next++ % XPU_WORK_MAX] = l->work->graph.event;
}

static void launch_done(struct job *j)
{
	struct launch *l = CONTAINER_OF(j, struct launch, job);
	struct slot *s = j->slot;

	s->jobs--;
	s->counters.kernels += l->status == DXP_OK;
	if (l->text[0])
		tenant_complain(l->work->tenant, "%s", l->text);
	if (l->port)
		port_complain(l->work->tenant, l->port, l->command.text);
	arguments_drop(l);
	work_done(l->work, l->status);
	free(l);
}

static void launch_drop(struct job *j)
{
	struct launch *l = CONTAINER_OF(j, struct launch, job);

	arguments_drop(l);
	graph_done(l->work->tenant->graph, &l->work->graph, DXP_ECLOSED);
	work_free(l->work);
	free(l);
}

void launch_start(struct work *w)
{
	struct slot *s = w->tenant->slot;
	struct launch *l = malloc(sizeof(*l));

	if (!l) {
		work_done(w, DXP_ENOMEM);
		return;
	}
	l->job.slot = s;
	l->work = w;
	l->port = NULL;
	l->held_count = l->need_count = 0;
	l->text[0] = '\0';
	int status = launch_prepare(l);
	if (status != DXP_OK) {
		arguments_drop(l);
		free(l);
		work_done(w, status);
		return;
	}
	s->jobs++;
	job_post(s, &l->job, launch_run, launch_done, launch_drop);
}
