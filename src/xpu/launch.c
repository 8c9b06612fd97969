/* SPDX-License-Identifier: BSD-3-Clause */
/* RUN: sends a ready kernel to a worker and holds its memory until it completes. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/image.h"
#include "xpu/slot_internal.h"

struct launch {
	struct order order;
	struct work *work;
	struct worker *worker;
	struct port *port;               /* NULL: no argument is the NIC */
	uint64_t held[COMMAND_ARGS_MAX]; /* addresses */
	uint32_t held_count;
	struct worker_run message; /* precedes the command, which is in `work` */
};

/* Drops what the kernel held. */
static void arguments_drop(struct launch *l)
{
	struct slot *s = l->work->tenant->slot;

	if (l->port)
		port_drop(s, l->port);
	for (uint32_t i = 0; i < l->held_count; i++)
		arena_drop(s->arena, l->held[i]);
}

static int port_argument_set(struct launch *l)
{
	struct port *p = l->work->tenant->port;

	if (!p)
		return DXP_ENOENT;
	if (!l->port)
		port_hold(l->work->tenant->slot, p);
	l->port = p;
	l->message.window = p->address;
	return DXP_OK;
}

/* Holds the memory of an argument. *rest: bytes from its address to the end of the allocation. */
static int memory_hold(struct launch *l, const struct command_argument *a, uint64_t *rest)
{
	const struct tenant *t = l->work->tenant;
	uint64_t bytes = a->kind == COMMAND_ARG_BUFFER ? a->bytes : 0;
	struct dxp_image image;

	if (a->kind == COMMAND_ARG_IMAGE) {
		command_image_get(a->value, &image);
		if (!image_span(&image, &bytes))
			return DXP_EINVAL;
	}
	int status = arena_hold(t->slot->arena, t->owner, a->address, bytes, rest);
	if (status == DXP_OK)
		l->held[l->held_count++] = a->address;
	return status;
}

static int argument_set(struct launch *l, const struct command_argument *a, uint64_t *rest)
{
	*rest = 0;
	if (a->kind == COMMAND_ARG_NIC)
		return port_argument_set(l);
	if (a->kind == COMMAND_ARG_IMAGE ||
	    (a->kind == COMMAND_ARG_BUFFER && a->address != COMMAND_NO_ADDRESS))
		return memory_hold(l, a, rest);
	return DXP_OK;
}

static void argument_complain(const struct launch *l, const struct command *c, uint8_t i)
{
	struct tenant *t = l->work->tenant;
	const struct command_argument *a = &c->arguments[i];

	if (a->kind == COMMAND_ARG_NIC)
		tenant_complain(t,
				"kernel '%s', argument %u: this host has requested no NIC function",
				c->text, i);
	else
		tenant_complain(t,
				"kernel '%s', argument %u: address %#llx%s is in no allocation of "
				"this host",
				c->text, i, (unsigned long long)a->address,
				a->kind == COMMAND_ARG_IMAGE ? ", or the image there," : "");
}

static int arguments_set(struct launch *l, const struct command *c)
{
	for (uint8_t i = 0; i < c->argument_count; i++) {
		int status = argument_set(l, &c->arguments[i], &l->message.rests[i]);
		if (status != DXP_OK) {
			argument_complain(l, c, i);
			return status;
		}
	}
	return DXP_OK;
}

static void name_get(const struct work *w, char out[COMMAND_NAME_BYTES])
{
	struct command c;

	if (command_decode(w->data, w->bytes, &c) == DXP_OK)
		memcpy(out, c.text, COMMAND_NAME_BYTES);
	else
		out[0] = '\0';
}

static void launch_complain(const struct launch *l, const struct order_end *end)
{
	struct tenant *t = l->work->tenant;
	char name[COMMAND_NAME_BYTES];

	if (end->text[0])
		tenant_complain(t, "%s", end->text);
	if (!l->port || !end->ran || dxp_error(l->port->window) == DXP_OK)
		return;
	name_get(l->work, name);
	port_complain(t, l->port, name);
}

static void launch_end(struct order *o, const struct order_end *end)
{
	struct launch *l = CONTAINER_OF(o, struct launch, order);
	struct work *w = l->work;

	l->worker->commands--;
	w->tenant->slot->counters.kernels += end->status == DXP_OK;
	launch_complain(l, end);
	arguments_drop(l);
	free(l);
	w->started_ns = end->started_ns;
	w->ended_ns = end->ended_ns;
	w->native = end->native;
	work_done(w, end->status);
}

static const struct order_ops launch_ops = {.end = launch_end};

static int launch_prepare(struct launch *l, struct work *w)
{
	struct command c;
	int status = command_decode(w->data, w->bytes, &c);

	assert(status == DXP_OK); /* it was decoded on arrival */
	l->work = w;
	l->port = NULL;
	l->held_count = 0;
	l->message.window = WORKER_NO_WINDOW;
	l->message.argument_count = c.argument_count;
	work_needs(w, &l->message.needs);
	l->order = (struct order){
		.tenant = w->tenant,
		.ops = &launch_ops,
		.kind = WORKER_RUN,
		.parts = {&l->message, w->data, WORKER_RUN_BYTES(c.argument_count), w->bytes}};
	const struct program *p = program_find(w->tenant, c.program);
	if (!p)
		return DXP_ENOENT;
	return p->built ? arguments_set(l, &c) : DXP_EBUILD;
}

static int launch_begin(struct work *w)
{
	struct launch *l = malloc(sizeof(*l));

	if (!l)
		return DXP_ENOMEM;
	int status = launch_prepare(l, w);
	l->worker = status == DXP_OK ? worker_get(w->tenant, &status) : NULL;
	if (l->worker) {
		l->worker->commands++;
		worker_post(l->worker, &l->order);
		return DXP_OK;
	}
	arguments_drop(l);
	free(l);
	return status;
}

void launch_start(struct work *w)
{
	w->started_ns = clock_now_ns();
	int status = launch_begin(w);
	if (status != DXP_OK)
		work_done(w, status);
}

void launch_describe(const struct order *o, char *out, size_t space)
{
	const struct launch *l = CONTAINER_OF(o, struct launch, order);
	char name[COMMAND_NAME_BYTES];

	name_get(l->work, name);
	snprintf(out, space, "kernel '%.100s'", name);
}
