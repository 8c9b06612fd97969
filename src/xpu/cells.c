/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of hosts: which one serves a tenant, what its process maps, and its loss.
 *
 * A host's process maps its host's allocations and the window of its NIC function, nothing else.
 * Freed memory is held until the process has unmapped it; only then can it be allocated again. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "link/udp.h"
#include "xpu/slot_internal.h"

struct cell *cell_of(const struct tenant *t)
{
	return t->slot->cell ? t->slot->cell : t->cell;
}

bool cell_full(const struct tenant *t)
{
	const struct cell *c = cell_of(t);

	return c && c->commands >= XPU_WORK_MAX;
}

/* ---- mappings ---- */

struct mapping {
	struct order order;
	struct cell_range range;
	struct port *port; /* UNMAP of its window; NULL: of a held allocation */
	bool replies;      /* its FREE, `sequence`, is answered then */
	uint32_t sequence;
};

static void map_end(struct order *o, const struct order_end *end)
{
	struct tenant *t = o->tenant;

	/* The process could not map its own memory. */
	if (end->ran && end->status != DXP_OK && t->cell)
		cell_kill(t->cell);
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
		parked_retry(t);
		if (m->replies)
			memory_free_reply(t, m->sequence, DXP_OK);
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
	m->range = (struct cell_range){address, bytes};
	m->order = (struct order){.tenant = t,
				  .ops = kind == CELL_MAP ? &map_ops : &unmap_ops,
				  .kind = kind,
				  .parts = {&m->range, NULL, sizeof(m->range), 0}};
	return m;
}

void cell_map(struct tenant *t, uint64_t address, uint64_t bytes)
{
	struct mapping *m;

	if (!t->cell)
		return;
	m = mapping_create(t, CELL_MAP, address, bytes);
	if (m)
		cell_post(t->cell, &m->order);
	else
		cell_kill(t->cell); /* the next process maps it at its start */
}

int cell_unmap_free(struct tenant *t, uint64_t address, const uint32_t *sequence)
{
	struct arena *arena = t->slot->arena;
	uint64_t at = address, bytes;

	if (!t->cell || !arena_next(arena, t->owner, &at, &bytes) || at != address)
		return arena_free(arena, t->owner, address);
	struct mapping *m = mapping_create(t, CELL_UNMAP, at, bytes);
	if (!m)
		return DXP_ENOMEM;
	m->replies = sequence && t->cell->commands == 0;
	m->sequence = sequence ? *sequence : 0;
	arena_hold(arena, t->owner, at, bytes, NULL); /* own allocation: cannot fail */
	arena_free(arena, t->owner, at);
	t->busy++;
	t->unmaps++;
	cell_post(t->cell, &m->order);
	return m->replies ? DXP_EAGAIN : DXP_OK;
}

void cell_unmap_port(struct port *p)
{
	struct tenant *t = p->tenant;
	struct mapping *m;

	if (!t->cell)
		return;
	m = mapping_create(t, CELL_UNMAP, p->address, sizeof(*p->window));
	if (!m) {
		/* Stops the process before it writes to a window that another port uses. */
		cell_kill(t->cell);
		return;
	}
	m->port = p;
	p->mappings++;
	t->busy++;
	cell_post(t->cell, &m->order);
}

/* ---- start ---- */

static void all_map(struct tenant *t)
{
	uint64_t address = 0, bytes;

	for (; arena_next(t->slot->arena, t->owner, &address, &bytes); address += bytes)
		cell_map(t, address, bytes);
	if (t->port)
		cell_map(t, t->port->address, sizeof(*t->port->window));
}

struct cell *cell_get(struct tenant *t, int *status)
{
	struct cell *c = cell_of(t);

	*status = DXP_OK;
	if (c)
		return c;
	*status = t->leaving ? DXP_ECANCELED : cell_open_process(t, &t->cell);
	if (*status == DXP_OK) {
		all_map(t);
		programs_rebuild(t);
		return t->cell;
	}
	if (*status == DXP_EIO)
		*status = DXP_EDEVICE;
	return NULL;
}

/* ---- exit ---- */

/* Describes what ran when the worker was lost. */
static void order_describe(const struct order *o, char *out, size_t room)
{
	if (!o)
		snprintf(out, room, "its process");
	else if (o->kind == CELL_RUN)
		launch_describe(o, out, room);
	else
		snprintf(out, room, "%s", o->kind == CELL_BUILD ? "the compiler" : "its process");
}

static void loss_complain(const struct cell *c, const struct zygote_news *news)
{
	char what[160];

	order_describe(c->first, what, sizeof(what));
	if (news->end == ZYGOTE_FAILED)
		tenant_complain(c->tenant,
				"no process can be started for its kernels: %s; raise the limits "
				"on processes and memory",
				strerror(news->number));
	else if (news->end == ZYGOTE_KILLED)
		tenant_complain(c->tenant,
				"%s was ended by signal %d (%s): what it had given out ends with "
				"it, and other hosts do not notice",
				what, news->number, strsignal(news->number));
	else
		tenant_complain(c->tenant, "%s ended its process", what);
}

/* Completes all orders of an exited worker and frees it. `news` NULL: its zygote was lost. */
static void tenant_cell_end(struct tenant *t, const struct zygote_news *news)
{
	struct cell *c = t->cell;

	if (news && !t->leaving)
		loss_complain(c, news);
	t->cell = NULL;
	cell_lost(c, t->leaving ? DXP_ECANCELED : DXP_EDEVICE);
	cell_close(c);
}

static void news_take(struct slot *s, const struct zygote_news *news)
{
	struct tenant *t = s->tenants;

	while (t && (!t->cell || t->cell->id != news->id))
		t = t->next;
	if (t)
		tenant_cell_end(t, news);
}

/* Handles the loss of the zygote, and of all processes with it. Those without accepted orders
 * start again. */
static void all_end(struct slot *s)
{
	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell && !cell_begin_again(t->cell))
			tenant_cell_end(t, NULL);
}

/* Starts a process that waits for a zygote, if one may start now. */
static uint32_t waiting_begin(struct tenant *t)
{
	if (!cell_waits(t->cell))
		return 0;
	int status = t->cell->ends ? DXP_ECANCELED : cell_begin(t->cell);
	if (status != DXP_OK && status != DXP_EAGAIN)
		tenant_cell_end(t, NULL);
	return status != DXP_EAGAIN;
}

/* ---- polls ---- */

static uint32_t processes_turn(struct slot *s)
{
	struct zygote_news news;
	uint32_t work = 0;
	bool lost;

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell)
			work += cell_turn(t->cell) + waiting_begin(t);
	for (; zygote_next(s->zygote, &news, &lost); work++)
		news_take(s, &news);
	if (lost)
		all_end(s);
	return work;
}

uint32_t cells_turn(struct slot *s)
{
	return s->cell ? cell_turn(s->cell) : processes_turn(s);
}

uint32_t cells_begun_tell(struct slot *s)
{
	const uint64_t now_ns = link_now_ns();
	uint32_t told = s->cell ? cell_begun_tell(s->cell, now_ns) : 0;

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell)
			told += cell_begun_tell(t->cell, now_ns);
	return told;
}

uint64_t cells_begun_deadline(const struct slot *s)
{
	uint64_t deadline_ns = s->cell ? cell_begun_deadline(s->cell) : UINT64_MAX;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell)
			deadline_ns = min_u64(deadline_ns, cell_waits(t->cell)
								   ? zygote_deadline(s->zygote)
								   : cell_begun_deadline(t->cell));
	return deadline_ns;
}

bool cells_asleep(struct slot *s)
{
	bool asleep = !s->cell || cell_asleep(s->cell);

	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell && !cell_asleep(t->cell))
			asleep = false;
	return asleep;
}

void cells_awake(struct slot *s)
{
	if (s->cell)
		cell_awake(s->cell);
	for (struct tenant *t = s->tenants; t; t = t->next)
		if (t->cell)
			cell_awake(t->cell);
}

void cells_close(struct slot *s)
{
	cell_close(s->cell);
	s->cell = NULL;
	zygote_close(s->zygote);
	s->zygote = NULL;
	for (struct tenant *t = s->tenants; t; t = t->next) {
		struct cell *c = t->cell;
		t->cell = NULL;
		cell_close(c);
	}
}
