/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves bytes between the network and local staged memory (staged.h) through a buffer of this
 * process, the bounce, one window of a request's chain (chain.c) after another. A PUT fetches a
 * window before messages are made of it. A GET stores it after all its answers have arrived. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/staged.h"

enum bounce_state {
	BOUNCE_IDLE,
	BOUNCE_FETCH, /* PUT: reads staged memory */
	BOUNCE_MOVE,
	BOUNCE_STORE /* GET: writes staged memory */
};

/* A piece has the same offset in `memory` as in the window. `next` and `used` count pieces and
 * bytes passed to the owner. */
struct nic_bounce {
	uint8_t state;
	uint16_t next;
	uint32_t used;
	uint8_t memory[];
};

bool bounce_stores(const struct nic_request *r)
{
	return r->bounce && r->head.op == DXP_OP_GET;
}

int bounce_open(struct nic_request *r)
{
	struct nic_user *u = r->user;

	if (r->bounce)
		return DXP_OK;
	if (u->bounces == NIC_BOUNCES_MAX)
		return DXP_EAGAIN; /* retried after bounce_close() */
	r->bounce = malloc(sizeof(*r->bounce) + min_u64(r->total, NIC_BOUNCE_BYTES));
	if (!r->bounce) {
		nic_memory_short(u->nic);
		return DXP_EAGAIN;
	}
	r->bounce->state = BOUNCE_IDLE;
	u->bounces++;
	return DXP_OK;
}

void bounce_close(struct nic_request *r)
{
	if (!r->bounce)
		return;
	r->user->bounces--;
	r->user->nic->space = true;
	free(r->bounce);
	r->bounce = NULL;
}

int bounce_piece(struct nic_request *r, const struct dxp_entry *e, uint32_t at,
		 struct nic_piece *piece)
{
	struct nic_region *region = region_find(r->user, e->key);
	int status = region ? region_hold(region, e->offset, e->bytes) : DXP_EACCESS;

	if (status == DXP_OK)
		*piece = (struct nic_piece){.base = r->bounce->memory + at,
					    .offset = e->offset,
					    .bytes = e->bytes,
					    .key = e->key,
					    .region = region};
	return status;
}

void bounce_begin(struct nic_request *r)
{
	r->bounce->state = r->head.op == DXP_OP_GET ? BOUNCE_MOVE : BOUNCE_FETCH;
	r->bounce->next = 0;
	r->bounce->used = 0;
}

static bool went_on(struct nic_request *r, int status)
{
	if (status != DXP_OK && status != DXP_EAGAIN)
		request_give_up(r, status);
	return status == DXP_OK;
}

/* True: all reads have completed. */
static bool fetch_advance(struct nic_request *r)
{
	struct nic_bounce *b = r->bounce;

	for (; b->next < r->local_count; b->next++) {
		const struct nic_piece *p = &r->local[b->next];
		if (p->region->staged && !went_on(r, staged_local_fetch(r, p, b->used)))
			return false;
		b->used += p->bytes;
	}
	if (r->pending > 0)
		return false;
	b->state = BOUNCE_MOVE;
	return true;
}

/* Writes at most *left bytes. True: the device has the whole window. */
static bool store_advance(struct nic_request *r, int64_t *left)
{
	struct nic_bounce *b = r->bounce;

	while (b->next < r->local_count) {
		const struct nic_piece *p = &r->local[b->next];
		uint32_t part = p->bytes - b->used;
		if (p->region->staged && *left <= 0) {
			r->function->busy |= (uint8_t)(1u << r->head.qp);
			return false;
		}
		if (p->region->staged) {
			if (!went_on(r, staged_local_store(r, p, b->used, &part)))
				return false;
			*left -= part;
		}
		b->used += part;
		if (b->used == p->bytes) {
			b->next++;
			b->used = 0;
		}
	}
	if (r->pending > 0)
		return false;
	b->state = BOUNCE_IDLE;
	r->cut_done = r->cut == r->total;
	return true;
}

bool bounce_advance(struct nic_request *r, int64_t *left)
{
	struct nic_bounce *b = r->bounce;

	if (b->state == BOUNCE_FETCH)
		return fetch_advance(r);
	if (b->state == BOUNCE_MOVE && bounce_stores(r) && r->cut == r->last) {
		if (r->pending > 0)
			return false;
		b->state = BOUNCE_STORE;
	}
	return b->state == BOUNCE_STORE ? store_advance(r, left) : true;
}
