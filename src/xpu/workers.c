/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of hosts: choice, mapped memory, loss.
 *
 * A host's process maps only its host's allocations and the window of its NIC function. Freed
 * memory is held until the process has unmapped it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "xpu/slot_internal.h"

struct worker *worker_of(const struct tenant *t)
{
	return t->slot->worker ? t->slot->worker : t->worker;
}

bool worker_full(const struct tenant *t)
{
	const struct worker *c = worker_of(t);

	if (!c || c->commands < XPU_WORK_MIN)
		return false;
	return c->commands >= XPU_WORK_MAX || c->commands * c->run_ns >= XPU_WORK_NS;
}

struct mapping {
	struct order order;
	struct worker_range range;
	/* NULL: an allocation that was held */
	struct port *port;
	worker_unmapped done; /* NULL for a window */
	bool replies;         /* passes `sequence` to `done` */
	uint32_t sequence;
};

static void map_end(struct order *o, const struct order_end *end)
{
	struct tenant *t = o->tenant;

	/* A process that cannot map its memory is useless. */
	if (end->ran && end->status != DXP_OK && t->worker)
		worker_kill(t->worker);
	free(CONTAINER_OF(o, struct mapping, order));
}

static const struct order_ops map_ops = {.end = map_end};

static void unmap_end(struct order *o, const struct order_end *end)
{
	struct mapping *m = CONTAINER_OF(o, struct mapping, order);
	struct tenant *t = o->tenant;

	t->busy--;
	if (m->port) {
		m->port->mappings--;
	} else {
		arena_drop(t->slot->arena, m->range.address);
		t->unmaps--;
		m->done(t, m->replies ? &m->sequence : NULL);
	}
	free(m);
}

static const struct order_ops unmap_ops = {.end = unmap_end};

static struct mapping *mapping_create(struct tenant *t, uint32_t kind, uint64_t address,
				      uint64_t bytes)
{
	struct mapping *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->range = (struct worker_range){address, bytes};
	m->order = (struct order){.tenant = t,
				  .ops = kind == WORKER_MAP ? &map_ops : &unmap_ops,
				  .kind = kind,
				  .parts = {&m->range, NULL, sizeof(m->range), 0}};
	return m;
}

void worker_map(struct tenant *t, uint64_t address, uint64_t bytes)
{
	struct mapping *m;

	if (!t->worker)
		return;
	m = mapping_create(t, WORKER_MAP, address, bytes);
	if (m)
		worker_post(t->worker, &m->order);
	else
		worker_kill(t->worker); /* the next process maps the range at its start */
}

int worker_unmap_free(struct tenant *t, uint64_t address, worker_unmapped done,
		      const uint32_t *sequence)
{
	struct arena *arena = t->slot->arena;
	uint64_t at = address, bytes;

	if (!t->worker || !arena_next(arena, t->owner, &at, &bytes) || at != address)
		return arena_free(arena, t->owner, address);
	struct mapping *m = mapping_create(t, WORKER_UNMAP, at, bytes);
	if (!m)
		return DXP_ENOMEM;
	m->done = done;
	m->replies = sequence && t->worker->commands == 0;
	m->sequence = sequence ? *sequence : 0;
	arena_hold(arena, t->owner, at, bytes, NULL); /* cannot fail: the tenant owns it */
	arena_free(arena, t->owner, at);
	t->busy++;
	t->unmaps++;
	worker_post(t->worker, &m->order);
	return m->replies ? DXP_EAGAIN : DXP_OK;
}

void worker_unmap_port(struct port *p)
{
	struct tenant *t = p->tenant;
	struct mapping *m;

	if (!t->worker)
		return;
	m = mapping_create(t, WORKER_UNMAP, p->address, sizeof(*p->window));
	if (!m) {
		/* The process could write to another port in this window. */
		worker_kill(t->worker);
		return;
	}
	m->port = p;
	p->mappings++;
	t->busy++;
	worker_post(t->worker, &m->order);
}

static void all_map(struct tenant *t)
{
	uint64_t address = 0, bytes;

	for (; arena_next(t->slot->arena, t->owner, &address, &bytes); address += bytes)
		worker_map(t, address, bytes);
	if (t->port)
		worker_map(t, t->port->address, sizeof(*t->port->window));
}

struct worker *worker_get(struct tenant *t, int *status)
{
	struct worker *c = worker_of(t);

	*status = DXP_OK;
	if (c)
		return c;
	*status = t->leaving ? DXP_ECANCELED : worker_open_process(t, &t->worker);
	if (*status == DXP_OK) {
		all_map(t);
		t->slot->hooks->worker_started(t);
		return t->worker;
	}
	if (*status == DXP_EIO)
		*status = DXP_EDEVICE;
	return NULL;
}

/* Names the order that the worker ran when it was lost. */
static void order_describe(const struct order *o, char *out, size_t space)
{
	if (o && o->ops->describe)
		o->ops->describe(o, out, space);
	else
		snprintf(out, space, "its process");
}

static void loss_describe(const struct worker *c, const struct zygote_news *news,
			  char out[ENGINE_TEXT_BYTES])
{
	char what[160];

	order_describe(c->first, what, sizeof(what));
	if (news->end == ZYGOTE_FAILED)
		snprintf(out, ENGINE_TEXT_BYTES,
			 "cannot start a process for its kernels: %.60s; raise the limits of "
			 "processes and memory",
			 strerror(news->number));
	else if (news->end == ZYGOTE_KILLED)
		snprintf(out, ENGINE_TEXT_BYTES,
			 "%.120s was killed by signal %d (%.30s): its outstanding commands fail; "
			 "other hosts are not affected",
			 what, news->number, strsignal(news->number));
	else
		snprintf(out, ENGINE_TEXT_BYTES, "%s exited its process", what);
}

/* `news`: NULL if the zygote was lost. */
static void tenant_worker_end(struct tenant *t, const struct zygote_news *news)
{
	char text[ENGINE_TEXT_BYTES] = "";
	struct worker *c = t->worker;

	t->worker = NULL;
	worker_last(c);
	if (news && !t->leaving)
		loss_describe(c, news, text);
	/* A launch logs and sends the text itself, if it is first. */
	if (text[0] && !(c->first && c->first->kind == WORKER_RUN))
		tenant_complain(t, "%s", text);
	worker_lost(c, t->leaving ? DXP_ECANCELED : DXP_EDEVICE, text);
	worker_close(c);
}

static void news_receive(struct slot *s, const struct zygote_news *news)
{
	struct tenant *t = s->tenants;

	while (t && (!t->worker || t->worker->id != news->id))
		t = t->next;
	if (t)
		tenant_worker_end(t, news);
}

/* Processes without an accepted order are started again. */
static void all_end(struct slot *s)
{
	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker && !worker_begin_again(t->worker))
			tenant_worker_end(t, NULL);
}

/* Retries a start that failed when the zygote was lost; closes a worker that must end or cannot be
 * started. 0: none, or not possible yet. */
static uint32_t waiting_begin(struct tenant *t)
{
	if (!worker_waits(t->worker))
		return 0;
	int status = t->worker->ends ? DXP_ECANCELED : worker_begin(t->worker);
	if (status != DXP_OK && status != DXP_EAGAIN)
		tenant_worker_end(t, NULL);
	return status != DXP_EAGAIN;
}

static uint32_t processes_poll(struct slot *s)
{
	struct zygote_news news;
	uint32_t work = 0;
	bool lost;

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker)
			work += worker_poll(t->worker) + waiting_begin(t);
	for (; zygote_next(s->zygote, &news, &lost); work++)
		news_receive(s, &news);
	if (lost)
		all_end(s);
	return work;
}

uint32_t workers_poll(struct slot *s)
{
	return s->worker ? worker_poll(s->worker) : processes_poll(s);
}

uint32_t workers_begun_notify(struct slot *s)
{
	const uint64_t now_ns = clock_now_ns();
	uint32_t notified = s->worker ? worker_begun_notify(s->worker, now_ns) : 0;

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker)
			notified += worker_begun_notify(t->worker, now_ns);
	return notified;
}

uint64_t workers_begun_deadline(const struct slot *s)
{
	uint64_t deadline_ns = s->worker ? worker_begun_deadline(s->worker) : UINT64_MAX;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker)
			deadline_ns =
				min_u64(deadline_ns, worker_waits(t->worker)
							     ? zygote_deadline(s->zygote)
							     : worker_begun_deadline(t->worker));
	return deadline_ns;
}

bool workers_sleeping(struct slot *s)
{
	bool sleeping = !s->worker || worker_sleeping(s->worker);

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker && !worker_sleeping(t->worker))
			sleeping = false;
	return sleeping;
}

void workers_resumed(struct slot *s)
{
	if (s->worker)
		worker_resumed(s->worker);
	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->worker)
			worker_resumed(t->worker);
}

void workers_close(struct slot *s)
{
	worker_close(s->worker);
	s->worker = NULL;
	zygote_close(s->zygote);
	s->zygote = NULL;
	for (struct tenant *t = s->tenants; t; t = t->next) {
		struct worker *c = t->worker;
		t->worker = NULL;
		worker_close(c);
	}
}
