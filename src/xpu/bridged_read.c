/* SPDX-License-Identifier: BSD-3-Clause */
/* GETs of peers from memory that only DMA can access. Buffers of pieces are free when the NIC
 * returns them. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "wire/ids.h"
#include "xpu/bridged_internal.h"
#include "xpu/limits.h"

struct staged_read {
	struct pump_transfer pump;
	struct bridged *bridged;
	/* NULL: cancelled by the NIC, or it has got all bytes */
	struct nic_staged_read *requested;
	uint64_t bytes, left; /* `left`: not passed to the NIC */
	uint16_t node;        /* of the requester */
	struct staged_read *next, **link;
};

struct staged_piece {
	struct staged_piece *next, **link;
	uint32_t id; /* of the pump's step */
};

static void piece_unlink(struct staged_piece *p)
{
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
}

static struct staged_piece *piece_make(struct bridged *b, uint32_t id)
{
	struct staged_piece *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct staged_piece){.next = b->pieces, .link = &b->pieces, .id = id};
	if (p->next)
		p->next->link = &p->next;
	b->pieces = p;
	return p;
}

static int read_step(struct pump_transfer *t, const struct bridge_action *a)
{
	struct staged_read *r = CONTAINER_OF(t, struct staged_read, pump);
	struct bridged *b = r->bridged;

	if (!r->requested || !b->nic)
		return DXP_ECANCELED;
	struct staged_piece *p = piece_make(b, a->id);
	if (!p)
		return DXP_EAGAIN;
	int status =
		nic_staged_answer(b->nic, r->requested, a->at, a->out, a->bytes, p, clock_now_ns());
	if (status != DXP_OK) {
		piece_unlink(p);
		free(p);
		return status == DXP_ENOMEM ? DXP_EAGAIN : status;
	}
	r->left -= a->bytes;
	if (r->left == 0)
		r->requested = NULL; /* the NIC may free this request now */
	return DXP_OK;
}

static void read_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct staged_read *r = CONTAINER_OF(t, struct staged_read, pump);
	struct bridged *b = r->bridged;
	struct nic_staged_read *requested = r->requested;
	int status = bridged_end_status(end);

	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	b->read_count--;
	free(r);
	if (status == DXP_OK || !requested || !b->nic)
		return;
	bridged_complain(b, "GET from device memory", end);
	nic_staged_refuse(b->nic, requested, status, clock_now_ns());
}

static bool read_patient(const struct pump_transfer *t)
{
	const struct staged_read *r = CONTAINER_OF(t, struct staged_read, pump);

	return bridged_silent(r->bridged, r->node);
}

/* The requester accepts no data, but acknowledges packets; otherwise RLTP would have closed the
 * session. */
static void read_stuck(struct pump_transfer *t)
{
	const struct staged_read *r = CONTAINER_OF(t, struct staged_read, pump);
	struct bridged *b = r->bridged;
	uint16_t node = r->node;

	if (!b->nic || node == WIRE_NODE_NONE)
		return;
	log_warn("node %u does not receive the data of its GETs, so its connection is reset; check "
		 "whether its program is stopped",
		 node);
	nic_peer_reset(b->nic, node, DXP_ETIMEDOUT);
}

int bridged_read_begin(void *context, struct nic_staged_read *requested, uint64_t offset,
		       uint64_t bytes)
{
	struct bridged *b = context;
	const struct bridge_order order = {.path = BRIDGE_OUT, .bytes = bytes};

	if (b->read_count >= XPU_STAGED_READS)
		return DXP_EAGAIN;
	struct staged_read *r = calloc(1, sizeof(*r));
	if (!r)
		return DXP_EAGAIN;
	*r = (struct staged_read){.bridged = b,
				  .requested = requested,
				  .bytes = bytes,
				  .left = bytes,
				  .next = b->reads,
				  .link = &b->reads};
	r->pump.device_from = offset;
	r->pump.step = read_step;
	r->pump.ended = read_ended;
	r->pump.stuck = read_stuck;
	r->pump.patient = read_patient;
	r->node = nic_staged_node(requested);
	if (r->next)
		r->next->link = &r->next;
	b->reads = r;
	int status = pump_begin(b->pump, &r->pump, &order, clock_now_ns());
	if (status == DXP_OK) {
		b->read_count++;
		return DXP_OK;
	}
	b->reads = r->next;
	if (r->next)
		r->next->link = &b->reads;
	free(r);
	return status == DXP_ENOMEM ? DXP_EAGAIN : status;
}

void bridged_read_cancel(void *context, struct nic_staged_read *requested)
{
	struct bridged *b = context;
	struct staged_read *r = b->reads;

	while (r && r->requested != requested)
		r = r->next;
	if (!r)
		return;
	r->requested = NULL;
	pump_cancel(b->pump, &r->pump, DXP_ECANCELED);
}

static void piece_back(struct bridged *b, struct staged_piece *p, int status)
{
	uint32_t id = p->id;

	piece_unlink(p);
	free(p);
	pump_done(b->pump, id, status, clock_now_ns());
}

void bridged_read_sent(void *context, void *piece, int status)
{
	piece_back(context, piece, status);
}

void bridged_reads_close(struct bridged *b)
{
	for (struct staged_read *r = b->reads; r; r = r->next)
		r->requested = NULL;
	while (b->pieces)
		piece_back(b, b->pieces, DXP_ECLOSED);
}

void bridged_reads_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
			 void *context)
{
	for (const struct staged_read *r = b->reads; r; r = r->next)
		if (r->node != WIRE_NODE_NONE)
			visit(context, r->node);
}

static bool read_touches(const struct staged_read *r, uint64_t address, uint64_t bytes)
{
	return r->pump.device_from < address + bytes && address < r->pump.device_from + r->bytes;
}

void bridged_reads_reclaim(struct bridged *b, uint64_t address, uint64_t bytes)
{
	for (struct staged_read *r = b->reads; r; r = r->next)
		if (read_touches(r, address, bytes))
			pump_cancel(b->pump, &r->pump, DXP_EACCESS);
}

bool bridged_reads_touch(const struct bridged *b, uint64_t address, uint64_t bytes)
{
	const struct staged_read *r = b->reads;

	while (r && !read_touches(r, address, bytes))
		r = r->next;
	return r != NULL;
}
