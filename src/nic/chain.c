/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors by reference (C-13, C-14), or with staged local memory. The engine copies the chain,
 * and no byte moves before all entries are checked; the peer checks those of its memory. Entries
 * are resolved in windows of at most NIC_CHAIN_WINDOW per list. Each step spends the function's
 * share of a poll. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/frame.h"

#define ENTRY_BYTES ((uint32_t)sizeof(struct dxp_entry))

struct chain_side {
	const struct dxp_entry *entries;
	/* first entry not resolved completely, and its resolved bytes */
	uint32_t count, next, used;
	uint64_t bytes;
};

/* `local` and `remote` advance only when `ready`: all entries are checked. */
struct nic_chain {
	/* in the user's memory; 0 bytes: the lists are in the descriptor */
	struct dxp_entry at;
	uint32_t count, copied, checked;
	bool ready;
	bool staged; /* a local entry names staged memory */
	struct chain_side local, remote;
	struct dxp_entry entries[]; /* source list, then destination list */
};

/* Looks up the key each time, because the user may have revoked it. */
static int chain_copy(const struct nic_user *u, const struct dxp_entry *at, uint64_t from, void *to,
		      uint64_t bytes)
{
	struct nic_region *region = region_find(u, at->key);

	if (!region)
		return DXP_EACCESS;
	if (region->staged)
		return DXP_EUNSUPPORTED;
	if (at->offset > region->bytes || at->bytes > region->bytes - at->offset)
		return DXP_ERANGE;
	int status = region_hold(region, at->offset + from, bytes);
	if (status != DXP_OK)
		return status;
	window_copy(to, region->base + at->offset + from, bytes);
	region_drop(region, at->offset + from);
	return DXP_OK;
}

static bool head_good(const struct dxp_chain *c, uint32_t bytes)
{
	uint64_t count = (uint64_t)c->src_count + c->dst_count;
	uint8_t flags = c->head.op == DXP_OP_PUT ? DXP_FLAG_NOTIFY : 0;

	return c->reserved == 0 && !(c->head.flags & ~flags) && count <= NIC_CHAIN_ENTRIES_MAX &&
	       bytes == dxp_chain_bytes(c->src_count, c->dst_count);
}

static bool long_good(const struct dxp_chain *c)
{
	return (c->head.op == DXP_OP_PUT || c->head.op == DXP_OP_GET) && c->src_count > 0 &&
	       c->dst_count > 0;
}

static int chain_create(struct nic_request *r, const struct dxp_chain *head,
			const struct dxp_entry *at)
{
	struct nic_user *u = r->user;
	uint32_t count = head->src_count + head->dst_count;

	if (u->chain_entries + count > NIC_CHAIN_ENTRIES_MAX) {
		u->counts.chain_waits += !u->chain_full;
		u->chain_full = u->counted = true;
		return DXP_EAGAIN;
	}
	struct nic_chain *c = malloc(sizeof(*c) + (size_t)count * ENTRY_BYTES);
	if (!c) {
		nic_memory_short(u->nic);
		return DXP_EAGAIN;
	}
	*c = (struct nic_chain){.at = *at, .count = count};
	struct chain_side src = {.entries = c->entries, .count = head->src_count};
	struct chain_side dst = {.entries = c->entries + src.count, .count = head->dst_count};
	bool reading = head->head.op == DXP_OP_GET;
	c->local = reading ? dst : src;
	c->remote = reading ? src : dst;
	u->chain_entries += count;
	r->chain = c;
	return DXP_OK;
}

int chain_begin(struct nic_request *r, const struct dxp_entry *at,
		struct dxp_entry entries[NIC_LIST_ENTRIES_MAX])
{
	struct dxp_descriptor own = r->head;
	struct dxp_chain head;
	int status;

	if (at->bytes < sizeof(head))
		return DXP_EINVAL;
	status = chain_copy(r->user, at, 0, &head, sizeof(head));
	if (status != DXP_OK)
		return status;
	if (!head_good(&head, at->bytes))
		return DXP_EINVAL;
	uint32_t count = head.src_count + head.dst_count;
	bool fits = count <= NIC_LIST_ENTRIES_MAX;
	if (fits)
		status = chain_copy(r->user, at, sizeof(head), entries,
				    (uint64_t)count * ENTRY_BYTES);
	else
		status = long_good(&head) ? chain_create(r, &head, at) : DXP_EINVAL;
	if (status != DXP_OK)
		return status;
	r->head = head.head;
	r->head.qp = own.qp;
	r->head.context = own.context;
	r->head.inline_bytes = 0;
	r->head.src_count = fits ? (uint8_t)head.src_count : 0;
	r->head.dst_count = fits ? (uint8_t)head.dst_count : 0;
	return DXP_OK;
}

int chain_staged(struct nic_request *r, const struct dxp_entry *entries)
{
	const struct dxp_chain head = {
		.head = r->head, .src_count = r->head.src_count, .dst_count = r->head.dst_count};

	if (!long_good(&head) || r->head.flags & DXP_FLAG_INLINE)
		return DXP_EUNSUPPORTED;
	int status = chain_create(r, &head, &(struct dxp_entry){0});
	if (status != DXP_OK)
		return status;
	r->chain->copied = r->chain->count;
	memcpy(r->chain->entries, entries, (size_t)r->chain->count * ENTRY_BYTES);
	r->head.src_count = r->head.dst_count = 0;
	return DXP_OK;
}

void chain_free(struct nic_request *r)
{
	if (!r->chain)
		return;
	r->user->chain_entries -= r->chain->count;
	r->user->chain_full = false;
	r->user->nic->space = true;
	free(r->chain);
	r->chain = NULL;
}

static uint32_t affordable(uint32_t rest, int64_t left, uint32_t cost)
{
	return (uint32_t)min_u64(rest, max_u64(1, (uint64_t)left / cost));
}

static int copy_step(struct nic_request *r, int64_t *left)
{
	struct nic_chain *c = r->chain;
	uint32_t count = affordable(c->count - c->copied, *left, ENTRY_BYTES);
	int status = chain_copy(r->user, &c->at,
				sizeof(struct dxp_chain) + (uint64_t)c->copied * ENTRY_BYTES,
				c->entries + c->copied, (uint64_t)count * ENTRY_BYTES);

	c->copied += count;
	*left -= (int64_t)count * ENTRY_BYTES;
	return status;
}

static int local_check(const struct nic_request *r, const struct dxp_entry *e)
{
	const struct nic_region *region = region_find(r->user, e->key);

	if (!region)
		return DXP_EACCESS;
	r->chain->staged |= region->staged != NULL;
	return e->bytes == 0 || e->offset > region->bytes || e->bytes > region->bytes - e->offset
		       ? DXP_ERANGE
		       : DXP_OK;
}

/* `t`: the target user if it is on this NIC, else NULL. */
static int remote_check(struct nic_request *r, struct nic_user *t, const struct dxp_entry *e)
{
	uint32_t right = r->head.op == DXP_OP_GET ? NIC_REMOTE_READ : NIC_REMOTE_WRITE;
	struct nic_region *region;

	if (e->bytes == 0 || (e->key == WIRE_KEY_REGISTERS && !r->registers))
		return DXP_EINVAL;
	if (!t || r->registers)
		return DXP_OK;
	if (local_key_waits(r, e->key))
		return DXP_EAGAIN;
	uint8_t code =
		access_region(t, &r->user->guesses, e->key, right, e->offset, e->bytes, &region);
	if (code == 0)
		return DXP_OK;
	t->function->counters[r->head.dst_qp].refused++;
	access_refused(t->nic, t, code);
	return rltp_status_of_nack(code);
}

/* DXP_EAGAIN: the allowance of wrong values is used up. */
static int check_step(struct nic_request *r, int64_t *left)
{
	struct nic_chain *c = r->chain;
	uint32_t end = c->checked + affordable(c->count - c->checked, *left, LOCAL_COST_BYTES);
	struct nic_user *t = NULL;

	*left -= (int64_t)(end - c->checked) * LOCAL_COST_BYTES;
	if (local_node(r->function->nic, r->head.dst_node)) {
		if (local_magic_waits(r))
			return DXP_EAGAIN;
		t = access_user(r->function->nic, &r->user->guesses, r->head.dst_function,
				r->head.dst_qp, r->head.dst_magic);
		if (!t)
			return rltp_status_of_nack(WIRE_NACK_MAGIC);
	}
	for (; c->checked < end; c->checked++) {
		const struct dxp_entry *e = &c->entries[c->checked];
		bool own = (size_t)(e - c->local.entries) < c->local.count;
		int status = own ? local_check(r, e) : remote_check(r, t, e);
		if (status != DXP_OK)
			return status;
		*(own ? &c->local.bytes : &c->remote.bytes) += e->bytes;
	}
	if (c->checked < c->count)
		return DXP_OK;
	if (c->local.bytes != c->remote.bytes || c->local.bytes > NIC_MESSAGE_BYTES_MAX)
		return DXP_EINVAL; /* C-24 */
	r->total = (uint32_t)c->local.bytes;
	r->user->counts.chains += c->at.bytes > 0;
	r->user->counted = true;
	c->ready = true;
	return DXP_OK;
}

static uint64_t side_bytes(const struct chain_side *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < NIC_CHAIN_WINDOW && s->next + i < s->count; i++)
		bytes += s->entries[s->next + i].bytes;
	return bytes - s->used;
}

/* The next window ends where NIC_CHAIN_WINDOW entries of either list end. */
static uint64_t window_bytes(const struct nic_chain *c)
{
	uint64_t bytes = min_u64(side_bytes(&c->local), side_bytes(&c->remote));

	return c->staged ? min_u64(bytes, NIC_BOUNCE_BYTES) : bytes;
}

static int own_piece(struct nic_request *r, const struct dxp_entry *e, uint32_t at,
		     struct nic_piece *piece)
{
	const struct nic_region *region = region_find(r->user, e->key);

	return r->bounce && region && region->staged ? bounce_piece(r, e, at, piece)
						     : doorbell_piece(r->user, e, piece);
}

static struct dxp_entry side_next(struct chain_side *s, uint64_t most)
{
	struct dxp_entry e = s->entries[s->next];
	uint32_t rest = e.bytes - s->used;

	e.offset += s->used;
	e.bytes = (uint32_t)min_u64(rest, most);
	s->used += e.bytes;
	if (e.bytes == rest) {
		s->next++;
		s->used = 0;
	}
	return e;
}

static int window_step(struct nic_request *r, int64_t *left)
{
	struct nic_chain *c = r->chain;
	uint64_t bytes = window_bytes(c);
	int status = c->staged ? bounce_open(r) : DXP_OK;

	if (status != DXP_OK)
		return status;
	request_pieces_drop(r);
	r->admitted = false;
	r->local = r->pieces;
	r->remote = r->pieces + NIC_CHAIN_WINDOW;
	r->remote_count = 0;
	r->local_index = r->local_used = r->remote_index = r->remote_used = 0;
	r->first = r->cut;
	r->last = r->cut + (uint32_t)bytes;
	for (uint64_t rest = bytes; rest > 0 && status == DXP_OK;) {
		struct dxp_entry e = side_next(&c->local, rest);
		status = own_piece(r, &e, (uint32_t)(bytes - rest), &r->local[r->local_count]);
		r->local_count += status == DXP_OK;
		rest -= e.bytes;
	}
	for (uint64_t rest = bytes; rest > 0;) {
		struct dxp_entry e = side_next(&c->remote, rest);
		r->remote[r->remote_count++] =
			(struct nic_piece){.offset = e.offset, .bytes = e.bytes, .key = e.key};
		rest -= e.bytes;
	}
	if (r->bounce)
		bounce_begin(r);
	*left -= (int64_t)LOCAL_COST_BYTES * (r->local_count + r->remote_count);
	return status;
}

static int chain_step(struct nic_request *r, int64_t *left)
{
	const struct nic_chain *c = r->chain;

	if (c->copied < c->count)
		return copy_step(r, left);
	return c->ready ? window_step(r, left) : check_step(r, left);
}

static bool pieces_left(const struct nic_request *r)
{
	return r->chain->ready && (r->cut < r->last || r->cut == r->total);
}

bool chain_advance(struct nic_request *r, int64_t *left)
{
	struct nic_user *u = r->user;

	if (r->bounce && (!bounce_advance(r, left) || r->cut_done))
		return false;
	if (pieces_left(r))
		return true;
	if (r->pending > 0)
		return false; /* messages still use the pieces */
	while (*left > 0 && !pieces_left(r)) {
		int status = chain_step(r, left);
		if (status == DXP_OK)
			continue;
		if (status == DXP_EAGAIN)
			return false;
		u->nic->counters.descriptors_bad += !r->chain->ready;
		u->counts.descriptors_bad += !r->chain->ready;
		request_give_up(r, status);
		return false;
	}
	if (*left > 0)
		return !r->bounce || bounce_advance(r, left);
	r->function->busy |= (uint8_t)(1u << r->head.qp);
	return false;
}
