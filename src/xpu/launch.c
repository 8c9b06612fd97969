/* SPDX-License-Identifier: BSD-3-Clause */
/* RUN: sends a ready kernel to a worker, and holds its memory until it completes. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/image.h"
#include "xpu/slot_internal.h"

#define REST_MASK ((1ull << 44) - 1) /* of worker_argument.bytes */
_Static_assert(XPU_MEMORY_MAX <= REST_MASK, "they hold the bytes of any allocation");

static bool names_memory(const struct worker_argument *a)
{
	return a->kind == COMMAND_ARG_IMAGE ||
	       (a->kind == COMMAND_ARG_BUFFER && a->address != COMMAND_NO_ADDRESS);
}

static void arguments_drop(struct work *w)
{
	const struct worker_argument *a = worker_run_arguments(work_run(w));
	struct slot *s = w->tenant->slot;

	if (w->port)
		port_drop(s, w->port);
	for (uint8_t i = 0; i < w->held; i++)
		if (names_memory(&a[i]))
			arena_drop(s->arena, a[i].address);
}

static int port_argument_set(struct work *w, struct worker_argument *a)
{
	struct port *p = w->tenant->port;

	if (!p)
		return DXP_ENOENT;
	if (!w->port)
		port_hold(w->tenant->slot, p);
	w->port = p;
	a->address = p->address;
	return DXP_OK;
}

/* Sets the bytes to the rest of the argument's allocation. */
static int memory_hold(struct work *w, struct worker_argument *a)
{
	const struct tenant *t = w->tenant;
	uint64_t bytes = worker_run_exact(work_run(w), a), rest;
	struct dxp_image image;

	if (a->kind == COMMAND_ARG_IMAGE) {
		memcpy(&image, worker_run_at(work_run(w), a->value), sizeof(image));
		if (!image_span(&image, &bytes))
			return DXP_EINVAL;
	}
	int status = arena_hold(t->slot->arena, t->owner, a->address, bytes, &rest);
	if (status == DXP_OK)
		a->bytes = rest & REST_MASK;
	return status;
}

static int argument_set(struct work *w, struct worker_argument *a)
{
	if (a->kind == COMMAND_ARG_NIC)
		return port_argument_set(w, a);
	return names_memory(a) ? memory_hold(w, a) : DXP_OK;
}

/* Logs the sentence, and sends it to the host. */
static void launch_explain(struct work *w, const char *text)
{
	tenant_complain(w->tenant, "%s", text);
	reply_failed_send(w->tenant, w->graph.event, text);
}

static void argument_complain(struct work *w, uint8_t i)
{
	struct worker_run *run = work_run(w);
	const struct worker_argument *a = &worker_run_arguments(run)[i];
	char text[ENGINE_TEXT_BYTES];

	if (a->kind == COMMAND_ARG_NIC)
		snprintf(text, sizeof(text),
			 "kernel '%.100s', argument %u: this host has requested no NIC function",
			 worker_run_name(run), i);
	else
		snprintf(text, sizeof(text),
			 "kernel '%.100s', argument %u: address %#llx%s is in no allocation of "
			 "this host",
			 worker_run_name(run), i, (unsigned long long)a->address,
			 a->kind == COMMAND_ARG_IMAGE ? ", or the image there," : "");
	launch_explain(w, text);
}

static int arguments_set(struct work *w)
{
	struct worker_run *run = work_run(w);
	struct worker_argument *a = worker_run_arguments(run);

	for (; w->held < run->argument_count; w->held++) {
		int status = argument_set(w, &a[w->held]);
		if (status != DXP_OK) {
			argument_complain(w, w->held);
			return status;
		}
	}
	return DXP_OK;
}

static void launch_complain(struct work *w, const struct order_end *end)
{
	if (end->text[0])
		launch_explain(w, end->text);
	if (!w->port || !end->ran || dxp_error(w->port->window) == DXP_OK)
		return;
	port_complain(w->tenant, w->port, worker_run_name(work_run(w)));
}

static void launch_end(struct order *o, const struct order_end *end)
{
	struct work *w = CONTAINER_OF(o, struct work, order);

	w->tenant->slot->counters.kernels += end->status == DXP_OK;
	launch_complain(w, end);
	if (end->status == DXP_OK)
		reply_cycles_send(w->tenant, w->graph.event, &end->cycles);
	arguments_drop(w);
	w->started_ns = end->started_ns;
	w->ended_ns = end->ended_ns;
	w->native = end->native;
	work_done(w, end->status);
}

static void launch_describe(const struct order *o, char *out, size_t space)
{
	struct work *w = CONTAINER_OF(o, struct work, order);

	snprintf(out, space, "kernel '%.100s'", worker_run_name(work_run(w)));
}

static const struct order_ops launch_ops = {.end = launch_end, .describe = launch_describe};

static int launch_prepare(struct work *w)
{
	struct worker_run *run = work_run(w);

	run->need_count = work_needs(w, worker_run_needs(run));
	w->order = (struct order){.tenant = w->tenant,
				  .ops = &launch_ops,
				  .kind = WORKER_RUN,
				  .parts = {.first = run, .first_bytes = run->bytes}};
	const struct program *p = program_find(w->tenant, run->program);
	if (!p)
		return DXP_ENOENT;
	return p->built ? arguments_set(w) : DXP_EBUILD;
}

void launch_start(struct work *w)
{
	w->started_ns = clock_now_ns();
	int status = launch_prepare(w);
	struct worker *worker = status == DXP_OK ? worker_get(w->tenant, &status) : NULL;
	if (worker) {
		worker_post(worker, &w->order);
		return;
	}
	arguments_drop(w);
	work_done(w, status);
}
