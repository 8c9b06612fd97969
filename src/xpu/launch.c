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
	struct order order;
	struct port *port;      /* NULL: no argument is the NIC */
	struct command command; /* holds the kernel's name; its values lie in the work */
	struct engine_launch engine;
	uint8_t held_count; /* arguments looked at, whose memory is held */
};

static struct launch *launch_of(struct order *o)
{
	return CONTAINER_OF(o, struct launch, order);
}

/* Does it lie in device memory? */
static bool argument_memory(const struct command_argument *a)
{
	return a->kind == COMMAND_ARG_IMAGE ||
	       (a->kind == COMMAND_ARG_BUFFER && a->address != COMMAND_NO_ADDRESS);
}

/* What the kernel had. */
static void arguments_drop(struct launch *l)
{
	struct slot *s = l->order.job.slot;

	if (l->port)
		port_drop(s, l->port);
	for (uint8_t i = 0; i < l->held_count; i++)
		if (argument_memory(&l->command.arguments[i]))
			arena_drop(s->arena, l->command.arguments[i].address);
}

static int port_take(struct launch *l, struct engine_argument *to)
{
	struct port *p = l->order.work->tenant->port;

	if (!p)
		return DXP_ENOENT;
	if (!l->port)
		port_hold(l->order.job.slot, p);
	l->port = p;
	to->memory = p->window;
	to->memory_bytes = sizeof(*p->window);
	return DXP_OK;
}

/* What its pitches span is the engine's to check against what there is. */
static int memory_take(const struct launch *l, const struct command_argument *from,
		       struct engine_argument *to)
{
	const struct tenant *t = l->order.work->tenant;

	if (!t->slot->bridged)
		to->memory = arena_base(t->slot->arena) + from->address;
	return arena_hold(t->slot->arena, t->owner, from->address, 0, &to->memory_bytes);
}

static int argument_take(struct launch *l, uint8_t i)
{
	const struct command_argument *from = &l->command.arguments[i];
	struct engine_argument *to = &l->engine.arguments[i];

	*to = (struct engine_argument){.kind = from->kind,
				       .bytes = from->bytes,
				       .value = from->value,
				       .address = from->address};
	if (from->kind == COMMAND_ARG_NIC)
		return port_take(l, to);
	if (from->kind == COMMAND_ARG_IMAGE)
		command_image_take(from->value, &to->image);
	if (from->kind == COMMAND_ARG_SAMPLER)
		command_sampler_take(from->value, &to->sampler);
	return argument_memory(from) ? memory_take(l, from, to) : DXP_OK;
}

static void argument_complain(const struct launch *l, uint8_t i)
{
	struct tenant *t = l->order.work->tenant;
	const struct command_argument *a = &l->command.arguments[i];

	if (a->kind == COMMAND_ARG_NIC)
		tenant_complain(t,
				"kernel '%s', argument %u: this host has asked for no NIC function",
				l->command.text, i);
	else
		tenant_complain(
			t,
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
	struct work *w = l->order.work;
	struct command *c = &l->command;
	int status = command_decode(w->data, w->bytes, c);

	assert(status == DXP_OK); /* it was decoded when it came */
	const struct program *p = program_find(w->tenant, c->program);
	if (!p)
		return DXP_ENOENT;
	if (!p->handle)
		return DXP_EBUILD;
	l->engine.program = p->handle;
	l->engine.kernel = c->text;
	l->engine.dimensions = c->dimensions;
	memcpy(l->engine.global, c->global, sizeof(c->global));
	memcpy(l->engine.local, c->local, sizeof(c->local));
	memcpy(l->engine.offset, c->offset, sizeof(c->offset));
	l->engine.argument_count = c->argument_count;
	return arguments_take(l);
}

static int launch_run(struct order *o)
{
	return engine_run(o->job.slot->engine, &launch_of(o)->engine, o->text);
}

static void launch_end(struct order *o)
{
	struct launch *l = launch_of(o);

	if (o->ran) {
		o->job.slot->counters.kernels += o->status == DXP_OK;
		if (l->port)
			port_complain(o->work->tenant, l->port, l->command.text);
	}
	arguments_drop(l);
	free(l);
}

static const struct order_ops launch_ops = {.run = launch_run, .end = launch_end};

void launch_start(struct work *w)
{
	struct launch *l = malloc(sizeof(*l));

	if (!l) {
		work_done(w, DXP_ENOMEM);
		return;
	}
	order_init(&l->order, w, &launch_ops);
	l->port = NULL;
	l->held_count = 0;
	int status = launch_prepare(l);
	if (status == DXP_OK) {
		order_post(&l->order);
		return;
	}
	launch_end(&l->order);
	work_done(w, status);
}
