/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns doorbells into requests. Only a copy of a descriptor is checked and used; an invalid one
 * completes with an error. A user that names another user's queue pair or overruns the FIFO is
 * stopped (C-15). */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/atomic.h"
#include "nic/internal.h"

#define DOORBELLS_AHEAD 4 /* descriptors by which the prefetch leads in a burst */
#define CONSUMER_STEP   8
/* distinct laps: rounds of the FIFO before the 32-bit index wraps */
#define LAPS (UINT32_MAX / NIC_DOORBELLS + 1)

static bool op_is_read(uint8_t op)
{
	return op == DXP_OP_GET || op == DXP_OP_CFG_READ;
}

static bool head_good(const struct dxp_descriptor *d)
{
	uint32_t entries = (uint32_t)d->src_count + d->dst_count;
	uint32_t inline_bytes = d->flags & DXP_FLAG_INLINE ? d->inline_bytes : 0;

	return entries <= NIC_LIST_ENTRIES_MAX &&
	       inline_bytes <= NIC_NAP_BYTES_MAX - entries * sizeof(struct dxp_entry);
}

int doorbell_piece(const struct nic_user *u, const struct dxp_entry *e, struct nic_piece *piece)
{
	struct nic_region *region = region_find(u, e->key);

	if (!region)
		return DXP_EACCESS;
	if (region->staged)
		return DXP_EUNSUPPORTED;
	if (e->bytes == 0 || e->offset > region->bytes || e->bytes > region->bytes - e->offset)
		return DXP_ERANGE;
	int status = region_hold(region, e->offset, e->bytes);
	if (status != DXP_OK)
		return status;
	*piece = (struct nic_piece){.base = region->base + e->offset,
				    .bytes = e->bytes,
				    .key = e->key,
				    .region = region};
	return DXP_OK;
}

static int lists_resolve(struct nic_request *r, const struct dxp_entry *local, uint16_t local_count,
			 const struct dxp_entry *remote, uint16_t remote_count)
{
	uint64_t local_bytes = 0, remote_bytes = 0;

	r->local = r->pieces;
	r->remote = r->pieces + local_count;
	for (uint16_t i = 0; i < local_count; i++) {
		int status = doorbell_piece(r->user, &local[i], &r->local[i]);
		if (status != DXP_OK)
			return status;
		r->local_count++;
		local_bytes += local[i].bytes;
	}
	for (uint16_t i = 0; i < remote_count; i++) {
		if (remote[i].bytes == 0)
			return DXP_EINVAL;
		r->remote[r->remote_count++] = (struct nic_piece){
			.offset = remote[i].offset, .bytes = remote[i].bytes, .key = remote[i].key};
		remote_bytes += remote[i].bytes;
	}
	if (r->head.op != DXP_OP_NAP && local_count > 0 && local_bytes != remote_bytes)
		return DXP_EINVAL; /* C-24 */
	r->total = (uint32_t)(local_count > 0 ? local_bytes : remote_bytes);
	return (local_count > 0 ? local_bytes : remote_bytes) > NIC_MESSAGE_BYTES_MAX ? DXP_EINVAL
										      : DXP_OK;
}

static bool shape_good(const struct nic_request *r)
{
	const struct dxp_descriptor *d = &r->head;
	bool immediate = d->flags & DXP_FLAG_INLINE;

	switch (d->op) {
	case DXP_OP_NAP:
		return r->remote_count == 0 && r->total <= NIC_NAP_BYTES_MAX &&
		       (!immediate || r->local_count == 0);
	case DXP_OP_PUT: return r->remote_count > 0 && r->local_count > 0 && !immediate;
	case DXP_OP_GET: return r->remote_count > 0 && r->local_count > 0 && !immediate;
	case DXP_OP_CFG_READ:
		return r->remote_count == 1 && r->local_count == 1 && !immediate &&
		       r->total % 4 == 0 && r->total <= 4 * NIC_CFG_WORDS_MAX;
	case DXP_OP_CFG_WRITE:
		return r->remote_count == 1 && r->local_count == 0 && immediate &&
		       d->inline_bytes == r->total && r->total % 4 == 0 &&
		       r->total <= 4 * NIC_CFG_WORDS_MAX;
	default:
		return atomic_known(d->op) && r->remote_count == 1 && r->local_count <= 1 &&
		       r->total == sizeof(uint64_t) && !immediate;
	}
}

static int entries_resolve(struct nic_request *r, const struct dxp_entry *entries)
{
	const struct dxp_descriptor *d = &r->head;
	const struct dxp_entry *dst = entries + d->src_count;

	int status = op_is_read(d->op) ? lists_resolve(r, dst, d->dst_count, entries, d->src_count)
				       : lists_resolve(r, entries, d->src_count, dst, d->dst_count);
	if (status != DXP_EUNSUPPORTED)
		return status;
	request_pieces_drop(r); /* pieces resolved before the staged entry */
	r->remote_count = 0;
	return chain_staged(r, entries);
}

/* Short lists go to r->pieces, long ones to r->chain, for chain_advance(). */
static int reference_parse(struct nic_request *r, const struct dxp_slot *slot)
{
	struct dxp_entry at, entries[NIC_LIST_ENTRIES_MAX];

	if (r->head.op != 0 || r->head.flags != DXP_FLAG_REFERENCE || r->head.src_count != 1 ||
	    r->head.dst_count != 0)
		return DXP_EINVAL;
	window_copy(&at, slot->body, sizeof(at));
	int status = chain_begin(r, &at, entries);
	if (status != DXP_OK || r->chain)
		return status;
	status = entries_resolve(r, entries);
	if (status == DXP_OK && !r->chain && !shape_good(r))
		status = DXP_EINVAL;
	r->user->counts.chains += status == DXP_OK;
	return status;
}

/* Copies the rest of the descriptor before checking it. Inline data is sent from the copy.
 * DXP_EAGAIN: chain entries or memory are short. */
static int request_parse(struct nic_request *r, const struct dxp_slot *slot)
{
	struct dxp_entry entries[NIC_LIST_ENTRIES_MAX];
	const struct dxp_descriptor *d = &r->head;
	uint32_t count = (uint32_t)d->src_count + d->dst_count;
	uint32_t inline_bytes = d->flags & DXP_FLAG_INLINE ? d->inline_bytes : 0;
	int status = DXP_OK;

	if (d->flags & DXP_FLAG_REFERENCE)
		return reference_parse(r, slot);
	if (!head_good(d))
		return DXP_EINVAL;
	if (count > 0) {
		window_copy(entries, slot->body, count * sizeof(*entries));
		status = entries_resolve(r, entries);
	}
	if (status != DXP_OK || r->chain)
		return status;
	if (inline_bytes > DXP_HEAD_BYTES)
		memcpy(r->immediate, slot->body + count * sizeof(*entries), inline_bytes);
	else if (inline_bytes > 0)
		memcpy(r->immediate, d->data, inline_bytes);
	if (d->flags & DXP_FLAG_INLINE && d->op == DXP_OP_NAP)
		r->total = inline_bytes;
	return shape_good(r) ? DXP_OK : DXP_EINVAL;
}

/* The user may then reuse the entry. False: memory or chain entries are short. */
static bool request_make(struct nic_user *u, const struct dxp_descriptor *head,
			 const struct dxp_slot *slot)
{
	struct nic *n = u->nic;
	struct nic_request *r = pool_request_get(n);

	if (!r) {
		nic_memory_short(n);
		return false;
	}
	r->head = *head;
	r->user = u;
	r->function = u->function;
	r->status = request_parse(r, slot);
	if (r->status == DXP_EAGAIN) {
		pool_request_put(n, r);
		return false;
	}
	if (r->status != DXP_OK) {
		n->counters.descriptors_bad++;
		u->counts.descriptors_bad++;
		r->cut_done = true;
	}
	request_queue(r);
	return true;
}

/* False: the descriptor stays in the FIFO, because no request can be made now, or the user was
 * stopped. */
static bool doorbell_accept(struct nic_user *u, const struct dxp_slot *slot)
{
	struct dxp_descriptor head;

	window_copy(&head, &slot->head, sizeof(head));
	u->row_body = head.src_count + head.dst_count > 0 || head.inline_bytes > DXP_HEAD_BYTES;
	if (head.qp >= u->qp_count) {
		u->nic->counters.descriptors_bad++;
		u->counts.descriptors_bad++;
		u->counted = true;
		user_stop(u, DXP_EINVAL);
		return false;
	}
	head.qp = (uint8_t)(u->first_qp + head.qp);
	struct nic_queue *q = &u->function->queues[head.qp];
	if (!q->head && !(head.flags & DXP_FLAG_REFERENCE) && local_node(u->nic, head.dst_node) &&
	    (local_nap(u, &head, slot) || local_put(u, &head, slot)))
		return true;
	return q->outstanding < NIC_OUTSTANDING_MAX && request_make(u, &head, slot);
}

static const struct dxp_slot *doorbell_next(const struct nic_user *u)
{
	const struct dxp_slot *slot = &u->window->slots[u->consumer % NIC_DOORBELLS];

	/* Pairs with the user's release: the descriptor is complete. */
	if (dxp_load_acquire(&slot->head.lap) != dxp_lap(u->consumer, NIC_DOORBELLS))
		return NULL;
	return slot;
}

static bool doorbell_due(const struct nic_user *u)
{
	const struct dxp_slot *slot = &u->window->slots[u->consumer % NIC_DOORBELLS];
	uint32_t lap = dxp_load_acquire(&slot->head.lap);

	return lap != 0 && lap + 1 != dxp_lap(u->consumer, NIC_DOORBELLS);
}

/* True: the entry has the lap of a later round, so the user reused it too early. An empty entry has
 * lap 0 or the previous one. */
static bool lap_overrun(const struct nic_user *u)
{
	const struct dxp_slot *slot = &u->window->slots[u->consumer % NIC_DOORBELLS];
	uint32_t lap = dxp_load_acquire(&slot->head.lap);
	uint32_t rounds = (lap - dxp_lap(u->consumer, NIC_DOORBELLS)) % LAPS;

	return lap != 0 && rounds > 0 && rounds < LAPS / 2;
}

static bool claims_overrun(const struct nic_user *u)
{
	return dxp_load_acquire(&u->window->producer) - u->consumer > NIC_DOORBELLS;
}

bool doorbells_overrun(struct nic *n)
{
	bool found = false;

	for (uint32_t open = n->open; open; open &= open - 1) {
		struct nic_user *u = &n->users[__builtin_ctz(open)];
		if (u->stopped || !claims_overrun(u))
			continue;
		user_stop(u, DXP_EOVERRUN);
		found = true;
	}
	return found;
}

bool nic_doorbell_ready(const struct nic *n)
{
	if (n->retry_ns != UINT64_MAX)
		return false;
	for (uint32_t open = n->open; open; open &= open - 1) {
		const struct nic_user *u = &n->users[__builtin_ctz(open)];
		if (u->stopped)
			continue;
		if (u->registers && registers_ready(u))
			return true;
		if (!doorbell_due(u))
			continue;
		const struct dxp_slot *slot = doorbell_next(u);
		if (!slot && lap_overrun(u))
			return true;
		if (!slot || u->full_ns != 0 || u->chain_full)
			continue;
		/* Read once: the user may change it after the check. */
		uint8_t qp = *(const volatile uint8_t *)&slot->head.qp;
		if (qp >= u->qp_count ||
		    u->function->queues[u->first_qp + qp].outstanding < NIC_OUTSTANDING_MAX)
			return true;
	}
	return false;
}

/* Schedules the next check of a full event ring, because reading it signals nothing. Intervals
 * grow, because a user that never reads must not keep the loop busy. */
static void full_note(struct nic_user *u)
{
	struct nic *n = u->nic;

	if (u->full_ns == 0) {
		u->full_pause_ns = NIC_SPACE_CHECK_NS;
		u->full_ns = n->now_ns + u->full_pause_ns;
	} else if (n->now_ns >= u->full_ns) {
		u->full_pause_ns = (uint32_t)min_u64(2 * u->full_pause_ns, NIC_SPACE_CHECK_MAX_NS);
		u->full_ns = n->now_ns + u->full_pause_ns;
	}
	n->look_ns = min_u64(n->look_ns, u->full_ns);
}

/* Prefetches only in a burst; otherwise the user, which may be about to write these lines, would
 * lose them from its cache. */
static void ahead(const struct nic_user *u, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		const struct dxp_slot *slot = &u->window->slots[(u->consumer + i) % NIC_DOORBELLS];
		__builtin_prefetch(&slot->head);
		if (u->row_body)
			__builtin_prefetch(slot->body);
	}
}

void doorbells_ahead(const struct nic_user *u)
{
	ahead(u, 0, 1);
	events_ahead(u, u);
}

/* In a burst, rereads the consumer index only if the cached value is too old: the user writes that
 * cache line, so each read may miss. */
static uint32_t completions_unread(struct nic_user *u)
{
	uint32_t seen = u->sent_index - u->sent_consumed;

	if (u->row > 1 && u->outstanding + seen + NIC_DOORBELLS <= NIC_EVENTS)
		return seen;
	return event_sent_unread(u);
}

uint32_t doorbells_accept(struct nic_user *u)
{
	struct dxp_window *w = u->window;
	const struct dxp_slot *slot = u->stopped ? NULL : doorbell_next(u);
	uint32_t accepted = 0;

	if (!slot) {
		u->full_ns = 0;
		if (!u->stopped && lap_overrun(u))
			user_stop(u, DXP_EOVERRUN);
		return 0;
	}
	/* Each request needs a free entry for its completion. */
	uint32_t spent = u->outstanding + completions_unread(u);
	if (spent >= NIC_EVENTS)
		full_note(u);
	else
		u->full_ns = 0;
	if (u->row > 1)
		ahead(u, 1, DOORBELLS_AHEAD);
	for (; accepted < NIC_DOORBELLS && spent < NIC_EVENTS; spent++) {
		slot = doorbell_next(u);
		if (!slot || !doorbell_accept(u, slot))
			break;
		if (accepted > 0)
			ahead(u, DOORBELLS_AHEAD, DOORBELLS_AHEAD);
		u->consumer++;
		if (++accepted % CONSUMER_STEP == 0)
			dxp_store_release(&w->consumer, u->consumer);
	}
	dxp_store_release(&w->consumer, u->consumer);
	u->row = accepted;
	u->nic->counters.doorbells += accepted;
	u->counts.doorbells += accepted;
	u->counted = true;
	return accepted;
}
