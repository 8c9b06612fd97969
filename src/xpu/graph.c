/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/limits.h"
#include "xpu/event_log.h"
#include "xpu/limits.h"
#include "xpu/order_heap.h"

#define SOURCES_FIRST      4
#define EVENT_WITHOUT_HOST ((1ull << 48) - 1)

enum command_state { STATE_WAITING, STATE_READY, STATE_ISSUED, STATE_FAILED };

struct source {
	uint16_t xpu;
	struct event_log log;
};

struct graph {
	uint16_t host, xpu;
	uint64_t order; /* graph_command.order of the next command */
	bool any_posted;
	uint32_t newest; /* highest count of an own event */
	struct event_log own;
	struct source *sources; /* other xPUs, sorted by number; at most XPU_SOURCES_MAX */
	uint32_t source_count, source_space;
	struct order_heap ready[GRAPH_QUEUES];
	struct graph_command *unissued; /* that wait or are ready */
	struct graph_command *failed, **failed_tail;
	uint32_t count;
	uint64_t bytes; /* of incomplete commands, at most WIRE_COMMANDS_BYTES */
};

int graph_create(uint16_t host, uint16_t xpu, struct graph **out)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return DXP_ENOMEM;
	g->host = host;
	g->xpu = xpu;
	g->failed_tail = &g->failed;
	event_log_init(&g->own, XPU_EVENTS_KEPT, false);
	*out = g;
	return DXP_OK;
}

void graph_destroy(struct graph *g)
{
	if (!g)
		return;
	assert(g->count == 0);
	for (uint32_t i = 0; i < g->source_count; i++)
		event_log_destroy(&g->sources[i].log);
	free(g->sources);
	event_log_destroy(&g->own);
	for (int queue = 0; queue < GRAPH_QUEUES; queue++)
		order_heap_destroy(&g->ready[queue]);
	free(g);
}

static uint32_t source_index(const struct graph *g, uint16_t xpu)
{
	uint32_t low = 0, high = g->source_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (g->sources[middle].xpu < xpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct event_log *source_find(struct graph *g, uint16_t xpu)
{
	uint32_t at = source_index(g, xpu);

	return at < g->source_count && g->sources[at].xpu == xpu ? &g->sources[at].log : NULL;
}

/* May move other sources; no pointer to them is kept. */
static int source_ensure(struct graph *g, uint16_t xpu, struct event_log **out)
{
	*out = source_find(g, xpu);
	if (*out)
		return DXP_OK;
	if (g->source_count == XPU_SOURCES_MAX)
		return DXP_EAGAIN;
	if (g->source_count == g->source_space) {
		uint32_t space = g->source_space ? 2 * g->source_space : SOURCES_FIRST;
		struct source *sources = realloc(g->sources, space * sizeof(*sources));
		if (!sources)
			return DXP_ENOMEM;
		g->sources = sources;
		g->source_space = space;
	}
	struct source *s = &g->sources[source_index(g, xpu)];
	memmove(s + 1, s, (size_t)(g->sources + g->source_count++ - s) * sizeof(*s));
	s->xpu = xpu;
	event_log_init(&s->log, XPU_PEER_EVENTS_MAX, true);
	*out = &s->log;
	return DXP_OK;
}

/* Forgotten by age, because no message reports that it is not needed any more. */
static int peer_event_add(struct event_log *log, uint32_t count, struct event_entry **out)
{
	uint32_t oldest = count - WIRE_PEER_EVENTS_KEPT;

	if (log->capacity == 0 || seq_before(log->oldest, oldest))
		log->oldest = oldest;
	return event_log_add(log, count, out);
}

static struct graph_command *command_of(struct graph_wait *w)
{
	return CONTAINER_OF(w - w->index, struct graph_command, waits);
}

static void wait_unlink(struct graph_wait *w)
{
	if (!w->link)
		return;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->link = NULL;
}

static void wait_link(struct graph_wait *w, struct event_entry *e)
{
	w->next = e->waiters;
	w->link = &e->waiters;
	if (w->next)
		w->next->link = &w->next;
	e->waiters = w;
}

static void command_unlink(struct graph_command *c)
{
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
}

static void command_ready(struct graph *g, struct graph_command *c)
{
	c->state = STATE_READY;
	order_heap_push(&g->ready[c->queue], c);
}

static void wait_uncount(struct graph *g, struct graph_wait *w)
{
	struct graph_command *c = command_of(w);

	if (!w->counted)
		return;
	w->counted = false;
	if (--c->waits_left == 0 && c->state == STATE_WAITING)
		command_ready(g, c);
}

/* Fails a command. Call failed_settle afterwards, for the commands that wait for it. */
static void command_fail(struct graph *g, struct graph_command *c, int status)
{
	if (c->state == STATE_READY)
		order_heap_remove(&g->ready[c->queue], c);
	for (int i = 0; i < COMMAND_WAITS_MAX; i++)
		wait_unlink(&c->waits[i]);
	command_unlink(c);
	c->state = STATE_FAILED;
	c->status = status;
	c->next = NULL;
	*g->failed_tail = c;
	g->failed_tail = &c->next;
}

/* Waiting commands become ready, or fail with `waiter_status`. The code that runs a command of
 * graph_next handles the failure itself. */
static void entry_settle(struct graph *g, struct event_entry *e, int status, int waiter_status)
{
	struct graph_wait *w;

	e->state = EVENT_DONE;
	e->status = (int8_t)status;
	while ((w = e->waiters)) {
		struct graph_command *c = command_of(w);
		wait_unlink(w);
		if (status == DXP_OK)
			wait_uncount(g, w);
		else if (c->state != STATE_ISSUED)
			command_fail(g, c, waiter_status);
	}
}

static void own_settle(struct graph *g, uint64_t event, int status)
{
	struct event_entry *e = event ? event_log_find(&g->own, EVENT_COUNT(event)) : NULL;

	if (e)
		entry_settle(g, e, status, DXP_ECANCELED);
}

/* Completes events of failed commands, from `first` on; commands that fail by this are appended and
 * handled too. */
static void failed_settle(struct graph *g, struct graph_command **first)
{
	for (struct graph_command *c = *first; c; c = c->next)
		own_settle(g, c->event, c->status);
}

static bool event_is_local(const struct graph *g, uint64_t event)
{
	return EVENT_HOST(event) == g->host && EVENT_XPU(event) == g->xpu;
}

static int event_begin(struct graph *g, const struct graph_posting *p)
{
	struct event_entry *e;
	uint32_t count = EVENT_COUNT(p->event);

	if (!event_is_local(g, p->event) || (g->any_posted && !seq_before(g->newest, count)))
		return DXP_EINVAL;
	g->own.oldest = p->oldest;
	int status = event_log_add(&g->own, count, &e);
	if (status != DXP_OK)
		return status;
	g->newest = count;
	g->any_posted = true;
	return DXP_OK;
}

/* An xPU reports a completion once; for an old event, the host requests a SIGNAL with a new one. A
 * host reports its own event again for each command that waits for it. */
static bool will_notify(const struct graph *g, const struct event_log *log, uint64_t event)
{
	return EVENT_XPU(event) == g->host || !event_log_forgotten(log, EVENT_COUNT(event));
}

static int wait_entry(struct graph *g, uint64_t event, uint64_t self, struct event_entry **out)
{
	struct event_log *log = &g->own;
	uint32_t count = EVENT_COUNT(event);

	if (EVENT_HOST(event) != g->host)
		return DXP_EINVAL;
	if (!event_is_local(g, event)) {
		int status = source_ensure(g, EVENT_XPU(event), &log);
		if (status != DXP_OK)
			return status;
	}
	*out = event_log_find(log, count);
	if (log == &g->own)
		return event == self || !g->any_posted || seq_before(g->newest, count) ? DXP_EINVAL
		       : *out                                                          ? DXP_OK
										       : DXP_ENOENT;
	if (*out)
		return DXP_OK;
	return will_notify(g, log, event) ? peer_event_add(log, count, out) : DXP_ENOENT;
}

/* DXP_EPEERLOST for the loss of another node, else DXP_ECANCELED. */
static int status_of_waiter(const struct graph *g, uint64_t event, int status)
{
	return status == DXP_EPEERLOST && EVENT_XPU(event) != g->xpu ? DXP_EPEERLOST
								     : DXP_ECANCELED;
}

static int wait_begin(struct graph *g, struct graph_command *c, struct graph_wait *w,
		      uint64_t event)
{
	struct event_entry *e = NULL;
	int status = wait_entry(g, event, c->event, &e);

	if (status != DXP_OK)
		return status;
	if (e->state == EVENT_DONE) {
		if (e->status != DXP_OK && c->status == DXP_OK)
			c->status = status_of_waiter(g, event, e->status);
		return DXP_OK;
	}
	wait_link(w, e);
	/* The engine runs its commands in order, so one that left this queue need not be
	 * counted. */
	w->counted = c->queue != GRAPH_ENGINE || e->state != EVENT_ISSUED;
	c->waits_left += w->counted;
	return DXP_OK;
}

static int waits_begin(struct graph *g, struct graph_command *c, const struct graph_posting *p)
{
	for (uint8_t i = 0; i < p->wait_count; i++) {
		c->waits[i] =
			(struct graph_wait){.event = p->waits[i] & EVENT_WITHOUT_HOST, .index = i};
		int status = wait_begin(g, c, &c->waits[i], p->waits[i]);
		if (status != DXP_OK) {
			for (uint8_t k = 0; k < i; k++)
				wait_unlink(&c->waits[k]);
			return status;
		}
	}
	return DXP_OK;
}

static int space_check(struct graph *g, const struct graph_posting *p)
{
	if (p->bytes > WIRE_COMMANDS_BYTES - g->bytes)
		return DXP_EAGAIN;
	return order_heap_reserve(&g->ready[p->queue], g->count + 1);
}

static void command_enter(struct graph *g, struct graph_command *c)
{
	g->count++;
	g->bytes += c->bytes;
	c->order = g->order++;
	c->state = STATE_WAITING;
	c->next = g->unissued;
	c->link = &g->unissued;
	if (c->next)
		c->next->link = &c->next;
	g->unissued = c;
	if (c->status != DXP_OK) {
		struct graph_command **first = g->failed_tail;
		command_fail(g, c, c->status);
		failed_settle(g, first);
	} else if (c->waits_left == 0) {
		command_ready(g, c);
	}
}

int graph_add(struct graph *g, struct graph_command *c, const struct graph_posting *p)
{
	assert(p->wait_count <= COMMAND_WAITS_MAX);
	*c = (struct graph_command){
		.event = p->event, .queue = (uint8_t)p->queue, .bytes = p->bytes};
	int status = p->event ? event_begin(g, p) : DXP_OK;
	if (status != DXP_OK)
		return status;
	status = space_check(g, p);
	if (status == DXP_OK)
		status = waits_begin(g, c, p);
	if (status != DXP_OK) {
		own_settle(g, p->event, status);
		return status;
	}
	command_enter(g, c);
	return DXP_OK;
}

bool graph_ready(const struct graph *g, enum graph_queue queue)
{
	return order_heap_top(&g->ready[queue]) != NULL;
}

struct graph_command *graph_next(struct graph *g, enum graph_queue queue)
{
	struct graph_command *c = order_heap_top(&g->ready[queue]);

	if (!c)
		return NULL;
	order_heap_remove(&g->ready[queue], c);
	command_unlink(c);
	c->state = STATE_ISSUED;
	struct event_entry *e = c->event ? event_log_find(&g->own, EVENT_COUNT(c->event)) : NULL;
	if (!e || queue != GRAPH_ENGINE)
		return c;
	e->state = EVENT_ISSUED;
	for (struct graph_wait *w = e->waiters; w; w = w->next)
		if (command_of(w)->queue == GRAPH_ENGINE)
			wait_uncount(g, w);
	return c;
}

uint8_t graph_unfinished(const struct graph *g, const struct graph_command *c,
			 uint64_t events[COMMAND_WAITS_MAX])
{
	uint8_t count = 0;

	for (int i = 0; i < COMMAND_WAITS_MAX; i++)
		if (c->waits[i].link)
			events[count++] = EVENT_NAME(g->host, 0, 0) | c->waits[i].event;
	return count;
}

void graph_done(struct graph *g, struct graph_command *c, int status)
{
	struct graph_command **first = g->failed_tail;

	assert(c->state == STATE_ISSUED && g->count > 0);
	for (int i = 0; i < COMMAND_WAITS_MAX; i++)
		wait_unlink(&c->waits[i]);
	g->count--;
	g->bytes -= c->bytes;
	own_settle(g, c->event, status);
	failed_settle(g, first);
}

struct graph_command *graph_failed(struct graph *g)
{
	struct graph_command *c = g->failed;

	if (!c)
		return NULL;
	g->failed = c->next;
	if (!g->failed)
		g->failed_tail = &g->failed;
	g->count--;
	g->bytes -= c->bytes;
	return c;
}

int graph_event(struct graph *g, uint64_t event, int status)
{
	struct graph_command **first = g->failed_tail;
	struct event_entry *e;
	struct event_log *log;

	if (EVENT_HOST(event) != g->host || EVENT_XPU(event) == g->xpu)
		return DXP_EINVAL;
	int result = source_ensure(g, EVENT_XPU(event), &log);
	if (result != DXP_OK)
		return result;
	e = event_log_find(log, EVENT_COUNT(event));
	if (!e) {
		if (!will_notify(g, log, event))
			/* Too late: commands that wait for this event fail with DXP_ENOENT. */
			return DXP_OK;
		result = peer_event_add(log, EVENT_COUNT(event), &e);
		if (result != DXP_OK)
			return result;
	}
	if (e->state != EVENT_DONE)
		entry_settle(g, e, status, status_of_waiter(g, event, status));
	failed_settle(g, first);
	return DXP_OK;
}

void graph_lost(struct graph *g, uint16_t xpu)
{
	struct graph_command **first = g->failed_tail;
	struct event_log *log = source_find(g, xpu);

	for (uint32_t i = 0; log && i < log->capacity + log->kept_count; i++) {
		struct event_entry *e =
			i < log->capacity ? &log->entries[i] : &log->kept[i - log->capacity];
		if (e->state == EVENT_PENDING)
			entry_settle(g, e, DXP_EPEERLOST, DXP_EPEERLOST);
	}
	failed_settle(g, first);
}

void graph_cancel(struct graph *g, int status)
{
	struct graph_command **first = g->failed_tail;

	while (g->unissued)
		command_fail(g, g->unissued, status);
	failed_settle(g, first);
}

uint32_t graph_count(const struct graph *g)
{
	return g->count;
}

uint64_t graph_bytes(const struct graph *g)
{
	return g->bytes;
}
