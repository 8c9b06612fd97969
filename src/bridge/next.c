/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the next step, and handles completions. Steps that free buffers come first; queues serve
 * transfers round-robin. A DMA through the stream core needs both controllers at once; while a
 * piece of the core waits for them, only one other DMA per direction may start before it. */
#include "bridge/internal.h"

#include <assert.h>

#include <dxp/status.h>

static bool comes_again(const struct bridge *b, const struct piece *p)
{
	return !p->given_back || p->epoch != b->epoch;
}

static struct piece *ready(const struct bridge *b, enum bridge_step step)
{
	for (const struct list *l = b->ready[step].next; l != &b->ready[step]; l = l->next) {
		struct piece *p = CONTAINER_OF(l, struct piece, queue);
		if (comes_again(b, p))
			return p;
	}
	return NULL;
}

static struct bridge_transfer *in_line(const struct bridge *b, enum line line)
{
	if (!list_used(&b->lines[line]))
		return NULL;
	return CONTAINER_OF(b->lines[line].next, struct bridge_transfer, line);
}

/* If its data has arrived, even without a free controller; else NULL. */
static struct piece *core_piece(const struct bridge *b)
{
	if (!list_used(&b->core))
		return NULL;
	struct piece *p = CONTAINER_OF(b->core.next, struct piece, core_link);
	return p->step != BRIDGE_FILL && comes_again(b, p) ? p : NULL;
}

static bool controller_free(const struct bridge *b, enum ring_way way)
{
	return b->dmas[way] < b->o.dmas;
}

static bool may_pass(const struct bridge *b, enum ring_way way)
{
	return !core_piece(b) || b->passed[way] == 0;
}

static struct piece *next_drain(struct bridge *b)
{
	return ready(b, BRIDGE_DRAIN);
}

/* A stream from user memory through the core to user memory; the core's queue has at most one such
 * piece. */
static void core_cut(struct bridge *b)
{
	struct bridge_transfer *t = in_line(b, LINE_CORE);

	if (!t || list_used(&b->core) || b->direct_pieces == BRIDGE_DIRECT_PIECES)
		return;
	struct piece *p = transfer_cut(t);
	p->step = BRIDGE_DMA_DIRECT;
	b->direct_pieces++;
	list_last(&b->core, &p->core_link);
}

static struct piece *next_core(struct bridge *b)
{
	core_cut(b);
	struct piece *p = core_piece(b);
	struct ring *from = &b->rings[RING_FROM_DEVICE];

	if (!p || !controller_free(b, RING_TO_DEVICE) || !controller_free(b, RING_FROM_DEVICE))
		return NULL;
	if (p->step == BRIDGE_DMA_THROUGH && p->out == RING_NONE) {
		if (!from->free)
			return NULL;
		p->out = ring_buffer_get(from);
	}
	b->passed[RING_TO_DEVICE] = b->passed[RING_FROM_DEVICE] = 0;
	return p;
}

static struct piece *next_in(struct bridge *b)
{
	struct piece *p = ready(b, BRIDGE_DMA_IN);

	if (!p || !controller_free(b, RING_TO_DEVICE) || !may_pass(b, RING_TO_DEVICE))
		return NULL;
	b->passed[RING_TO_DEVICE]++;
	return p;
}

/* The last buffers are for transfers without one; otherwise readers on a slow network could hold
 * all. Skips few transfers, because each skipped one holds a buffer. */
static struct bridge_transfer *out_in_line(const struct bridge *b)
{
	const struct ring *from = &b->rings[RING_FROM_DEVICE];
	const struct list *line = &b->lines[LINE_OUT];
	uint32_t kept = b->transfers > 1 ? from->count / BRIDGE_KEPT_PART : 0;

	if (!from->free)
		return NULL;
	for (const struct list *l = line->next; l != line; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, line);
		if (from->free > kept || !list_used(&t->pieces))
			return t;
	}
	return NULL;
}

static struct piece *next_out(struct bridge *b)
{
	struct piece *p = ready(b, BRIDGE_DMA_OUT);
	struct ring *from = &b->rings[RING_FROM_DEVICE];

	if (!controller_free(b, RING_FROM_DEVICE))
		return NULL;
	/* First: the core may wait for the buffer of a returned piece. */
	if (p)
		return p;
	struct bridge_transfer *t = out_in_line(b);
	if (!t || !may_pass(b, RING_FROM_DEVICE))
		return NULL;
	p = transfer_cut(t);
	p->step = BRIDGE_DMA_OUT;
	p->out = ring_buffer_get(from);
	b->passed[RING_FROM_DEVICE]++;
	return p;
}

static struct piece *next_direct(struct bridge *b)
{
	struct piece *p = ready(b, BRIDGE_DMA_DIRECT);
	struct bridge_transfer *t = in_line(b, LINE_DIRECT);

	if (b->direct >= b->o.dmas)
		return NULL;
	if (p)
		return p;
	if (!t || b->direct_pieces == BRIDGE_DIRECT_PIECES)
		return NULL;
	p = transfer_cut(t);
	p->step = BRIDGE_DMA_DIRECT;
	b->direct_pieces++;
	return p;
}

static struct piece *next_fill(struct bridge *b)
{
	struct piece *p = ready(b, BRIDGE_FILL);
	struct bridge_transfer *t = in_line(b, LINE_IN);
	struct ring *to = &b->rings[RING_TO_DEVICE];

	if (b->fills >= b->o.fills)
		return NULL;
	if (p)
		return p;
	if (!t || to->free - b->promised <= feed_kept(b))
		return NULL;
	p = transfer_cut(t);
	p->step = BRIDGE_FILL;
	p->in = ring_buffer_get(to);
	b->pulled_last = true;
	if (t->order.path == BRIDGE_THROUGH)
		list_last(&b->core, &p->core_link);
	return p;
}

bool bridge_next(struct bridge *b, uint64_t now_ns, struct bridge_action *out)
{
	static struct piece *(*const choices[])(struct bridge *) = {
		next_drain, next_core, next_out, next_in, next_direct, next_fill,
	};

	b->now_ns = now_ns;
	if (now_ns >= b->again_ns) {
		b->again_ns = UINT64_MAX;
		b->epoch++;
	}
	for (size_t i = 0; i < ARRAY_COUNT(choices); i++) {
		struct piece *p = choices[i](b);
		if (!p)
			continue;
		piece_begin(b, p, out);
		return true;
	}
	return false;
}

void bridge_later(struct bridge *b, uint32_t id)
{
	struct piece *p = piece_of(b, id);

	assert(p && id == b->offered);
	struct bridge_transfer *t = p->transfer;
	piece_end(b, p);
	p->given_back = true;
	t->given_back++;
	p->epoch = b->epoch;
	b->again_ns = min_u64(b->again_ns, b->now_ns + BRIDGE_AGAIN_NS);
	if (t->status != DXP_OK)
		piece_put(b, p, false);
	else if (uses_core(t) && p->step != BRIDGE_FILL && p->step != BRIDGE_DRAIN)
		/* It stays first in the core's queue. */
		list_first(&b->core, &p->core_link);
	else
		piece_wait(b, p, p->step);
	transfer_settle(t);
}

static void piece_advance(struct bridge *b, struct piece *p)
{
	struct ring *in = &b->rings[RING_TO_DEVICE], *out = &b->rings[RING_FROM_DEVICE];

	switch (p->step) {
	case BRIDGE_FILL:
		ring_move(in, p->in, BUFFER_FULL);
		if (p->transfer->order.path == BRIDGE_THROUGH)
			/* in the core's queue since it was cut */
			p->step = BRIDGE_DMA_THROUGH;
		else
			piece_wait(b, p, BRIDGE_DMA_IN);
		break;
	case BRIDGE_DMA_THROUGH:
		piece_buffer_put(in, &p->in);
		/* fall through */
	case BRIDGE_DMA_OUT:
		ring_move(out, p->out, BUFFER_DONE);
		piece_wait(b, p, BRIDGE_DRAIN);
		break;
	default: piece_put(b, p, true);
	}
}

static bool is_last(const struct piece *p)
{
	return p->step == BRIDGE_DMA_IN || p->step == BRIDGE_DMA_DIRECT || p->step == BRIDGE_DRAIN;
}

void bridge_done(struct bridge *b, uint32_t id, int status, uint64_t now_ns)
{
	struct piece *p = piece_of(b, id);

	b->now_ns = now_ns;
	if (!p) {
		b->counters.stale++;
		return;
	}
	struct bridge_transfer *t = p->transfer;
	piece_end(b, p);
	b->epoch++;
	b->again_ns = UINT64_MAX;
	if (status == DXP_OK) {
		b->counters.pieces[p->step]++;
		b->counters.bytes[p->step] += p->bytes;
	}
	if (status == DXP_OK && (t->status == DXP_OK || is_last(p)))
		piece_advance(b, p);
	else {
		uint8_t step = p->step;
		uint64_t at = p->at;
		piece_put(b, p, false);
		if (t->status == DXP_OK)
			transfer_fail(t, status, step, at);
	}
	transfer_settle(t);
}
