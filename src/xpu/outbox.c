/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/outbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "xpu/limits.h"

struct message {
	struct message *next;
	struct queue *queue;
	enum outbox_kind kind;
	struct dxp_target to;
	struct outbox_piece piece; /* NAP: local.bytes is 0 */
	outbox_done done;
	void *context;
	uint32_t bytes;
	uint8_t data[];
};

/* Messages of one kind to one node; freed when empty. */
struct queue {
	struct queue *next;
	enum outbox_kind kind;
	uint16_t node;
	uint32_t waiting_count;
	struct message *waiting, **waiting_tail;
	struct message *flight; /* posted to the NIC, in no order */
	uint32_t flight_count;
	uint64_t bytes; /* memory of all messages */
};

struct outbox {
	struct dxp_window *window;
	struct queue *queues; /* rotated by outbox_service() */
	bool blocked;
};

int outbox_create(struct dxp_window *window, struct outbox **out)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (!o)
		return DXP_ENOMEM;
	o->window = window;
	*out = o;
	return DXP_OK;
}

static void messages_free(struct message *m)
{
	while (m) {
		struct message *next = m->next;
		free(m);
		m = next;
	}
}

void outbox_destroy(struct outbox *o)
{
	struct queue *q;

	if (!o)
		return;
	while ((q = o->queues)) {
		o->queues = q->next;
		messages_free(q->waiting);
		messages_free(q->flight);
		free(q);
	}
	free(o);
}

static void messages_end(struct message **list, int status);

void outbox_end(struct outbox *o, int status)
{
	struct queue *q;

	while ((q = o->queues)) {
		o->queues = q->next;
		messages_end(&q->waiting, status);
		messages_end(&q->flight, status);
		free(q);
	}
}

static struct queue *queue_find(const struct outbox *o, enum outbox_kind kind, uint16_t node)
{
	struct queue *q = o->queues;

	while (q && (q->node != node || q->kind != kind))
		q = q->next;
	return q;
}

static struct queue *queue_ensure(struct outbox *o, enum outbox_kind kind, uint16_t node)
{
	struct queue *q = queue_find(o, kind, node);

	if (q)
		return q;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->kind = kind;
	q->node = node;
	q->waiting_tail = &q->waiting;
	q->next = o->queues;
	o->queues = q;
	return q;
}

static uint64_t message_bytes(const struct message *m)
{
	return sizeof(*m) + m->bytes;
}

static int message_put(struct outbox *o, const struct message *head, const void *data)
{
	struct queue *q = queue_ensure(o, head->kind, head->to.node);
	struct message *m = q ? malloc(sizeof(*m) + head->bytes) : NULL;

	if (!m)
		return DXP_ENOMEM;
	*m = *head;
	m->queue = q;
	m->next = NULL;
	if (head->bytes)
		memcpy(m->data, data, head->bytes);
	*q->waiting_tail = m;
	q->waiting_tail = &m->next;
	q->waiting_count++;
	q->bytes += message_bytes(m);
	return DXP_OK;
}

int outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const void *data, uint32_t bytes, outbox_done done, void *context)
{
	const struct message head = {
		.kind = kind, .to = *to, .bytes = bytes, .done = done, .context = context};

	return message_put(o, &head, data);
}

int outbox_put(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const struct outbox_piece *piece, outbox_done done, void *context)
{
	const struct message head = {
		.kind = kind, .to = *to, .piece = *piece, .done = done, .context = context};

	assert(kind == OUTBOX_PEER || kind == OUTBOX_PUSH);
	return message_put(o, &head, NULL);
}

int outbox_get(struct outbox *o, const struct dxp_target *to, const struct outbox_piece *piece,
	       outbox_done done, void *context)
{
	const struct message head = {
		.kind = OUTBOX_PULL, .to = *to, .piece = *piece, .done = done, .context = context};

	return message_put(o, &head, NULL);
}

uint32_t outbox_count(const struct outbox *o, uint16_t node)
{
	uint32_t count = 0;

	for (const struct queue *q = o->queues; q; q = q->next)
		count += q->node == node ? q->waiting_count + q->flight_count : 0;
	return count;
}

uint64_t outbox_bytes(const struct outbox *o, uint16_t node)
{
	uint64_t bytes = 0;

	for (const struct queue *q = o->queues; q; q = q->next)
		bytes += q->node == node ? q->bytes : 0;
	return bytes;
}

uint32_t outbox_flight(const struct outbox *o, uint16_t node)
{
	uint32_t count = 0;

	for (const struct queue *q = o->queues; q; q = q->next)
		count += q->node == node ? q->flight_count : 0;
	return count;
}

static struct message *waiting_pop(struct queue *q)
{
	struct message *m = q->waiting;

	if (!m)
		return NULL;
	q->waiting = m->next;
	if (!q->waiting)
		q->waiting_tail = &q->waiting;
	q->waiting_count--;
	q->bytes -= message_bytes(m);
	return m;
}

/* `done` may queue new messages. */
static void message_end(struct message *m, int status)
{
	outbox_done done = m->done;
	void *context = m->context;

	free(m);
	if (done)
		done(context, status);
}

static void messages_end(struct message **list, int status)
{
	struct message *m;

	while ((m = *list)) {
		*list = m->next;
		message_end(m, status);
	}
}

static void queue_drop(struct queue *q, int status)
{
	uint32_t count = q->waiting_count;

	/* Only messages queued now; one that `done` adds fails later by itself. */
	for (; count > 0 && q->waiting; count--)
		message_end(waiting_pop(q), status);
}

void outbox_drop(struct outbox *o, uint16_t node, int status)
{
	for (struct queue *q = o->queues; q; q = q->next)
		if (q->node == node)
			queue_drop(q, status);
}

/* Two queue pairs for replies and two for data, so that a silent node delays at most half of the
 * others. PUTs and GETs of a bridge use different ones. */
static uint8_t queue_pair(const struct message *m)
{
	uint8_t half = (uint8_t)((m->to.node + (m->kind == OUTBOX_PUSH)) % 2);

	return (uint8_t)((m->kind != OUTBOX_HOST) + 2 * half);
}

static int message_post(struct outbox *o, const struct message *m)
{
	const struct nic_lists lists = {&m->piece.local, &m->piece.remote, 1, 1};
	uint8_t qp = queue_pair(m);
	uint64_t context = (uintptr_t)m;

	if (m->kind == OUTBOX_PULL)
		return nic_user_get(o->window, qp, &m->to, &lists, context);
	if (m->piece.local.bytes > 0)
		return nic_user_put(o->window, qp, &m->to, &lists, context);
	return dxp_post_nap(o->window, qp, &m->to, m->data, m->bytes, 0, context);
}

static uint32_t flight_max(const struct queue *q)
{
	return q->kind == OUTBOX_PULL || q->kind == OUTBOX_PUSH ? XPU_OUTBOX_BULK
								: XPU_OUTBOX_FLIGHT;
}

/* False: the window is full. */
static bool queue_post(struct outbox *o, struct queue *q, uint32_t *work)
{
	while (q->waiting && q->flight_count < flight_max(q)) {
		struct message *m = q->waiting;
		int status = message_post(o, m);
		if (status == DXP_EAGAIN)
			return false;
		waiting_pop(q);
		++*work;
		if (status != DXP_OK) {
			message_end(m, status);
			continue;
		}
		m->next = q->flight;
		q->flight = m;
		q->flight_count++;
		q->bytes += message_bytes(m);
	}
	return true;
}

static void completion_dequeue(const struct dxp_nic_event *e)
{
	struct message *m = (struct message *)(uintptr_t)e->context;
	struct queue *q = m->queue;
	struct message **at = &q->flight;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	q->flight_count--;
	q->bytes -= message_bytes(m);
	message_end(m, e->status);
}

static void empty_free(struct outbox *o)
{
	struct queue **at = &o->queues, *q;

	while ((q = *at)) {
		if (q->waiting || q->flight) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		free(q);
	}
}

/* Moves the first queue to the end, so that another queue is first next time. */
static void pass_once(struct outbox *o)
{
	struct queue *q = o->queues, **at = &o->queues;

	if (!q || !q->next)
		return;
	o->queues = q->next;
	while (*at)
		at = &(*at)->next;
	q->next = NULL;
	*at = q;
}

uint32_t outbox_service(struct outbox *o)
{
	struct dxp_nic_event e;
	uint32_t work = 0;

	while (dxp_sent_dequeue(o->window, &e)) {
		completion_dequeue(&e);
		work++;
	}
	if (!o->queues)
		return work;
	pass_once(o);
	o->blocked = false;
	for (struct queue *q = o->queues; q && !o->blocked; q = q->next)
		o->blocked = !queue_post(o, q, &work);
	empty_free(o);
	return work;
}

bool outbox_blocked(const struct outbox *o)
{
	return o->blocked && o->queues;
}
