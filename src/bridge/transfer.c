/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers, from bridge_begin to bridge_ended. */
#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "bridge/internal.h"

/* bytes: no word of the stream core may cross pieces */
#define PIECE_MULTIPLE 64

static uint32_t piece_most(const struct bridge *b, const struct bridge_order *o)
{
	return o->path == BRIDGE_DIRECT ? BRIDGE_BUFFER_MAX : b->o.buffer_bytes;
}

/* Alone, a transfer that choice.h covers is cut as choice_next() selects, and timed; others get a
 * ramp. */
static void chosen_cut(const struct bridge *b, struct bridge_transfer *t)
{
	const struct bridge_order *o = &t->order;
	const uint32_t most = piece_most(b, o);
	struct cut cuts[CHOICE_WAYS];
	uint32_t ways = 1u << CHOICE_RAMP;

	cut_chosen(&cuts[CHOICE_RAMP], o->bytes, most);
	t->timed = b->transfers == 0 && choice_covers(o->bytes);
	if (t->timed) {
		const uint32_t shortest = cuts[CHOICE_RAMP].piece;
		cut_coarse(&cuts[CHOICE_COARSE], o->bytes, most);
		cut_even(&cuts[CHOICE_BUFFERS], o->bytes, most, most);
		cuts[CHOICE_SEQUENTIAL] = cuts[CHOICE_BUFFERS];
		if (cuts[CHOICE_COARSE].piece > shortest && cuts[CHOICE_COARSE].piece < o->bytes)
			ways |= 1u << CHOICE_COARSE;
		if (most > shortest)
			ways |= 1u << CHOICE_BUFFERS;
		if (most < o->bytes)
			ways |= 1u << CHOICE_SEQUENTIAL;
		t->way = (uint8_t)choice_next(&b->choice, o->path, o->bytes, ways);
	}
	t->cut = cuts[t->way];
	if (t->way == CHOICE_SEQUENTIAL)
		t->order.mode = BRIDGE_SEQUENTIAL;
}

static void order_cut(const struct bridge *b, struct bridge_transfer *t)
{
	const struct bridge_order *o = &t->order;
	struct cut *out = &t->cut;
	uint32_t given = o->piece_bytes / PIECE_MULTIPLE * PIECE_MULTIPLE;
	uint32_t most = piece_most(b, o);

	if (!given && o->mode == BRIDGE_SEQUENTIAL)
		given = b->o.buffer_bytes;
	if (!given && o->path == BRIDGE_DIRECT)
		given = BRIDGE_DIRECT_BYTES;
	if (given || o->fed)
		cut_even(out, o->bytes, given, most);
	else if (b->whole[o->path] > 0)
		cut_joined(out, o->bytes, o->bytes + b->whole[o->path], most);
	else
		chosen_cut(b, t);
	if (o->fed && o->unit && o->unit <= out->piece)
		out->piece -= out->piece % o->unit;
}

static bool order_valid(const struct bridge *b, const struct bridge_order *o)
{
	if (o->path >= BRIDGE_PATHS || o->mode > BRIDGE_SEQUENTIAL)
		return false;
	if (o->fed && (o->path != BRIDGE_IN || o->mode != BRIDGE_PIPELINED))
		return false;
	if (o->fed && (feed_reserve(b) > b->o.buffers ||
		       (o->piece_bytes && o->piece_bytes < feed_block_min(b))))
		return false;
	if (o->core && o->path != BRIDGE_DIRECT)
		return false;
	return !o->piece_bytes ||
	       (o->piece_bytes >= BRIDGE_BUFFER_MIN && o->piece_bytes <= piece_most(b, o));
}

int bridge_begin(struct bridge *b, const struct bridge_order *order, uint64_t now_ns,
		 struct bridge_transfer **out)
{
	b->now_ns = now_ns;
	if (!order_valid(b, order))
		return DXP_EINVAL;
	if (b->transfers == BRIDGE_TRANSFERS_MAX)
		return DXP_EAGAIN;
	struct bridge_transfer *t = calloc(1, sizeof(*t));
	if (!t)
		return DXP_ENOMEM;
	t->bridge = b;
	t->order = *order;
	t->begun_ns = now_ns;
	t->begun = ++b->begun;
	order_cut(b, t);
	t->missing_at = UINT64_MAX;
	t->step = BRIDGE_STEPS;
	list_init(&t->line);
	list_init(&t->stream);
	list_init(&t->ended);
	list_init(&t->pieces);
	list_init(&t->wait);
	list_init(&t->expected);
	list_last(&b->all, &t->all);
	if (uses_core(t) && order->bytes > 0)
		list_last(&b->streams, &t->stream);
	b->transfers++;
	b->whole[order->path] += order->bytes;
	transfer_settle(t);
	*out = t;
	return DXP_OK;
}

static enum line line_of(const struct bridge_transfer *t)
{
	switch (t->order.path) {
	case BRIDGE_OUT: return LINE_OUT;
	case BRIDGE_DIRECT: return t->order.core ? LINE_CORE : LINE_DIRECT;
	default: return LINE_IN;
	}
}

static bool all_cut(const struct bridge_transfer *t)
{
	return t->order.fed ? feed_complete(t) : t->next_at == t->order.bytes;
}

static bool may_cut(const struct bridge_transfer *t)
{
	if (t->status != DXP_OK || t->order.fed || all_cut(t) || t->given_back > 0)
		return false;
	if (t->order.mode == BRIDGE_SEQUENTIAL && list_used(&t->pieces))
		return false;
	return !uses_core(t) || t->bridge->streams.next == &t->stream;
}

static void line_settle(struct bridge_transfer *t)
{
	bool want = may_cut(t);

	if (want && !list_used(&t->line))
		list_last(&t->bridge->lines[line_of(t)], &t->line);
	if (!want)
		list_remove(&t->line);
}

void transfer_settle(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	bool cutting = t->status == DXP_OK && !all_cut(t);

	if (list_used(&t->stream) && !cutting) {
		list_remove(&t->stream);
		if (list_used(&b->streams))
			line_settle(CONTAINER_OF(b->streams.next, struct bridge_transfer, stream));
	}
	line_settle(t);
	if (cutting || list_used(&t->pieces) || t->over)
		return;
	t->over = true;
	if (t->timed && t->begun == b->begun && t->status == DXP_OK)
		choice_note(&b->choice, t->order.path, t->order.bytes, t->way,
			    b->now_ns - t->begun_ns);
	b->whole[t->order.path] -= t->order.bytes;
	grant_forget(t);
	list_last(&b->ended, &t->ended);
	b->counters.transfers++;
	b->counters.failed += t->step != BRIDGE_STEPS;
}

struct piece *transfer_cut(struct bridge_transfer *t)
{
	struct piece *p = piece_allocate(t, t->next_at, cut_next(&t->cut, t->next_at));

	t->next_at += p->bytes;
	/* Still queued, it moves to the end. */
	list_remove(&t->line);
	transfer_settle(t);
	return p;
}

static void drop_waiting(struct bridge_transfer *t)
{
	struct list *next;

	for (struct list *l = t->pieces.next; l != &t->pieces; l = next) {
		struct piece *p = CONTAINER_OF(l, struct piece, sibling);
		next = l->next;
		if (!p->outstanding)
			piece_put(t->bridge, p, false);
	}
}

void transfer_fail(struct bridge_transfer *t, int status, uint8_t step, uint64_t at)
{
	assert(status != DXP_OK && t->status == DXP_OK && !t->over);
	t->status = status;
	t->step = step;
	t->fail_at = at;
	drop_waiting(t);
	grant_forget(t);
}

void bridge_cancel(struct bridge *b, struct bridge_transfer *t, int status)
{
	assert(t->bridge == b && status != DXP_OK);
	if (t->over || t->status != DXP_OK)
		return;
	transfer_fail(t, status, BRIDGE_STEPS, t->order.fed ? feed_prefix(t) : t->next_at);
	transfer_settle(t);
}

void bridge_cancel_all(struct bridge *b, int status)
{
	for (struct list *l = b->all.next; l != &b->all; l = l->next)
		bridge_cancel(b, CONTAINER_OF(l, struct bridge_transfer, all), status);
}

static uint64_t prefix(const struct bridge_transfer *t)
{
	if (t->status == DXP_OK)
		return t->order.bytes;
	if (t->order.fed)
		return feed_prefix(t);
	return min_u64(t->missing_at, t->next_at);
}

bool bridge_ended(struct bridge *b, struct bridge_end *out)
{
	if (!list_used(&b->ended))
		return false;
	struct bridge_transfer *t = CONTAINER_OF(b->ended.next, struct bridge_transfer, ended);
	*out = (struct bridge_end){
		.transfer = t,
		.context = t->order.context,
		.status = t->status,
		.step = t->step,
		.at = t->fail_at,
		.bytes = prefix(t),
	};
	list_remove(&t->ended);
	list_remove(&t->all);
	b->transfers--;
	free(t);
	return true;
}

int bridge_settled(const struct bridge_transfer *t)
{
	if (t->status != DXP_OK)
		return t->status;
	return t->over ? DXP_OK : DXP_EAGAIN;
}
