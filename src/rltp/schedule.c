/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions with work are in the ready queue, first come, first served; other active sessions in a
 * heap by deadline. A session in the ready queue may keep an old heap entry until it is polled. The
 * heap has space for every active session, so only schedule_reserve can fail. */
#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "rltp/endpoint_internal.h"

#define SCHEDULE_MIN 8

/* Also shrinks the heap after many sessions have closed. */
int schedule_reserve(struct schedule *q, uint32_t sessions)
{
	uint32_t space = q->space ? q->space : SCHEDULE_MIN;

	while (space < sessions)
		space *= 2;
	while (space / 4 >= sessions && space / 4 >= q->count && space > SCHEDULE_MIN)
		space /= 2;
	if (space == q->space)
		return DXP_OK;
	struct schedule_entry *heap = realloc(q->heap, space * sizeof(*heap));
	if (!heap)
		return space < q->space ? DXP_OK : DXP_ENOMEM;
	q->heap = heap;
	q->space = space;
	return DXP_OK;
}

void schedule_free(struct schedule *q)
{
	free(q->heap);
}

void schedule_ready(struct schedule *q, struct rltp_session *s)
{
	if (s->ready)
		return;
	s->ready = true;
	s->next_ready = NULL;
	if (q->last)
		q->last->next_ready = s;
	else
		q->first = s;
	q->last = s;
}

static void place(struct schedule *q, uint32_t at, struct schedule_entry entry)
{
	q->heap[at] = entry;
	entry.session->heap_index = at + 1;
}

static void entry_raise(struct schedule *q, uint32_t at, struct schedule_entry entry)
{
	while (at > 0 && entry.due_ns < q->heap[(at - 1) / 2].due_ns) {
		place(q, at, q->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place(q, at, entry);
}

static void entry_sink(struct schedule *q, uint32_t at, struct schedule_entry entry)
{
	uint32_t child;

	while ((child = 2 * at + 1) < q->count) {
		if (child + 1 < q->count && q->heap[child + 1].due_ns < q->heap[child].due_ns)
			child++;
		if (entry.due_ns <= q->heap[child].due_ns)
			break;
		place(q, at, q->heap[child]);
		at = child;
	}
	place(q, at, entry);
}

static void entry_settle(struct schedule *q, uint32_t at, struct schedule_entry entry)
{
	if (at > 0 && entry.due_ns < q->heap[(at - 1) / 2].due_ns)
		entry_raise(q, at, entry);
	else
		entry_sink(q, at, entry);
}

static void heap_remove(struct schedule *q, struct rltp_session *s)
{
	uint32_t at = s->heap_index - 1;

	s->heap_index = 0;
	struct schedule_entry last = q->heap[--q->count];
	if (last.session != s)
		entry_settle(q, at, last);
}

void schedule_at(struct schedule *q, struct rltp_session *s, uint64_t due_ns)
{
	struct schedule_entry entry = {due_ns, s};

	if (due_ns == UINT64_MAX) {
		if (s->heap_index)
			heap_remove(q, s);
	} else if (s->heap_index) {
		entry_settle(q, s->heap_index - 1, entry);
	} else {
		assert(q->count < q->space);
		entry_raise(q, q->count++, entry);
	}
}

void schedule_due(struct schedule *q, uint64_t now_ns)
{
	while (q->count > 0 && q->heap[0].due_ns <= now_ns) {
		struct rltp_session *s = q->heap[0].session;
		heap_remove(q, s);
		schedule_ready(q, s);
	}
}

struct rltp_session *schedule_dequeue(struct schedule *q)
{
	struct rltp_session *s = q->first;

	if (!s)
		return NULL;
	q->first = s->next_ready;
	if (!q->first)
		q->last = NULL;
	s->ready = false;
	return s;
}

void schedule_forget(struct schedule *q, struct rltp_session *s)
{
	struct rltp_session **link = &q->first, *before = NULL;

	schedule_at(q, s, UINT64_MAX);
	if (!s->ready)
		return;
	for (; *link != s; link = &(*link)->next_ready)
		before = *link;
	*link = s->next_ready;
	if (q->last == s)
		q->last = before;
	s->ready = false;
}

uint64_t schedule_deadline(const struct schedule *q)
{
	if (q->first)
		return 0;
	return q->count > 0 ? q->heap[0].due_ns : UINT64_MAX;
}
