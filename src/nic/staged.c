/* SPDX-License-Identifier: BSD-3-Clause */
/* PUTs of peers into staged memory. The owner gets payload as it arrives; packets without space are
 * sent again. The packet that completes a message is held: placed, but accepted only when the
 * device has all bytes (docs/reference/wire.md "Refusals"). */
#include "nic/staged.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#define ACCEPTED      ((struct rltp_verdict){0, 0})
#define REFUSED(code) ((struct rltp_verdict){code, 0})
#define NOT_READY     ((struct rltp_verdict){WIRE_NACK_RNR, NIC_STAGED_RETRY_US})

/* The oldest write most likely settles first. */
static struct staged_put *put_of(const struct nic *n, const struct nic_staged_write *w)
{
	struct staged_put *put = n->puts;

	while (put && put->write != w)
		put = put->next;
	return put;
}

static void message_name(const struct staged_put *put, struct wire_nack_body *out)
{
	const struct rx_stream *stream = put->stream;
	uint32_t index = (uint32_t)(put->record - stream->records);

	out->qp = wire_nack_position(stream->index / NIC_QPS_PER_FUNCTION,
				     stream->index % NIC_QPS_PER_FUNCTION);
	out->msg_id = stream->next + (index - stream->next) % NIC_STREAM_WINDOW;
}

/* Packets that have space: up to the last that arrived, and the rest of its block. */
static uint32_t begun(const struct staged_put *put)
{
	uint32_t end = put->subs.end;

	return put->block ? (end + put->block - 1) / put->block * put->block : end;
}

/* Grants the packets before number `granted`. A lost grant is sent again later. */
static void put_call(struct nic *n, struct staged_put *put, uint32_t granted)
{
	struct wire_nack_body nack = {
		.code = WIRE_NACK_WAIT, .psn = put->psn, .granted = max_u32(granted, begun(put))};

	put->granted = nack.granted;
	message_name(put, &nack);
	rltp_endpoint_call(n->endpoint, put->stream->peer->session, &nack);
}

void nic_staged_granted(struct nic *n, struct nic_staged_write *w, uint64_t bytes, uint64_t now_ns)
{
	struct staged_put *put = put_of(n, w);

	n->now_ns = now_ns;
	if (put && put->waits)
		put_call(n, put, bytes == put->bytes ? UINT32_MAX : (uint32_t)(bytes / put->unit));
}

struct staged_put *staged_put_begin(struct nic *n, struct nic_region *region,
				    struct nic_staged_span *span)
{
	struct staged_put *put = calloc(1, sizeof(*put));

	if (!put)
		return NULL;
	put->write = region->staged->write_begin(region->staged_context, span);
	if (!put->write) {
		free(put);
		return NULL;
	}
	put->region = region;
	put->offset = span->offset;
	put->bytes = (uint32_t)span->bytes;
	put->block = span->unit ? span->block / span->unit : 0;
	region->uses++;
	put->previous = n->puts_last;
	*(put->previous ? &put->previous->next : &n->puts) = put;
	n->puts_last = put;
	n->put_count++;
	return put;
}

void staged_put_end(struct nic *n, struct staged_put *put)
{
	*(put->previous ? &put->previous->next : &n->puts) = put->next;
	*(put->next ? &put->next->previous : &n->puts_last) = put->previous;
	n->put_count--;
	put->region->uses--;
	/* The waiting sender must send a packet, because only a packet gets an answer. */
	if (put->waits && !put->held)
		put_call(n, put, UINT32_MAX);
	if (put->record)
		put->record->put = NULL;
	put->region->staged->write_end(put->region->staged_context, put->write);
	free(put);
}

int staged_put_settled(const struct staged_put *put)
{
	return put->region->staged->write_settled(put->region->staged_context, put->write);
}

/* No packet before `psn` is missing; those held for a device are not. */
static bool oldest(const struct nic_peer *p, uint32_t psn)
{
	uint32_t missing = rltp_session_missing(p->session, psn);

	if (missing == 0)
		return true;
	for (const struct staged_put *put = peer_nic(p)->puts; put; put = put->next)
		missing -= put->held && put->stream->peer == p && (int32_t)(put->psn - psn) < 0;
	return missing == 0;
}

/* True: the packet may use the reserve (bridge_feed), because its sender can send the rest of the
 * message without space for another one. While a packet is rejected, no new message begins on that
 * queue pair. Once a packet was the oldest missing one, no earlier packet can be rejected; from
 * then on the message needs only its own packets, in order. */
static bool first(struct staged_put *put, const struct wire_header *h)
{
	if (!put->alone)
		put->alone = oldest(put->stream->peer, h->psn);
	return put->alone && h->sub == put->subs.cum;
}

/* Payload of each packet but the last. False: not a message of equal packets. */
static bool unit_of(const struct wire_header *h, uint32_t *unit)
{
	uint32_t before = h->msg_bytes - h->payload_bytes;

	*unit = h->payload_bytes;
	if (!(h->flags & WIRE_FLAG_LAST))
		return h->payload_bytes > 0;
	if (h->sub == 0)
		return before == 0;
	*unit = before / h->sub;
	return before % h->sub == 0 && *unit > 0 && *unit >= h->payload_bytes;
}

/* Beyond NIC_STAGED_LATER writes, only the oldest missing packet of a session may begin one;
 * otherwise writes that wait for others could use all space of the owner. */
static struct rltp_verdict put_begin(struct rx_stream *stream, struct rx_record *r,
				     const struct wire_header *h, const struct nic_place *to)
{
	struct nic *n = peer_nic(stream->peer);
	struct nic_staged_span span = {
		.offset = to->offset, .bytes = h->msg_bytes, .source = stream->peer->node};

	if (!unit_of(h, &span.unit))
		return REFUSED(WIRE_NACK_BOUNDS);

	if (n->put_count >= NIC_STAGED_LATER && !oldest(stream->peer, h->psn))
		return NOT_READY;
	struct staged_put *put = staged_put_begin(n, to->region, &span);
	if (!put)
		return NOT_READY;
	put->stream = stream;
	put->record = r;
	put->retry_us = NIC_HELD_RETRY_US;
	r->put = put;
	return ACCEPTED;
}

/* Rejects overlapping packets: the owner counts bytes to know that a buffer is complete, so they
 * would expose its earlier contents. */
static bool packet_good(struct staged_put *put, const struct rx_record *r,
			const struct wire_header *h)
{
	uint32_t unit;

	if (!unit_of(h, &unit) || (put->unit != 0 && put->unit != unit) ||
	    (h->flags & WIRE_FLAG_LAST && r->packet_count != 0) ||
	    rx_map_test(&put->subs, h->sub) != RX_NEW)
		return false;
	put->unit = unit;
	return true;
}

static int payload_give(struct staged_put *put, const struct wire_header *h, uint64_t at,
			const uint8_t *payload)
{
	const struct nic_staged_ops *ops = put->region->staged;
	void *context = put->region->staged_context;

	if (h->payload_bytes == 0)
		return DXP_OK;
	int status = ops->write_place(context, put->write, at, payload, h->payload_bytes, false);
	if ((status == DXP_EAGAIN || status == DXP_EBUSY) && first(put, h))
		status = ops->write_place(context, put->write, at, payload, h->payload_bytes, true);
	return status;
}

/* The record stays until the sender gives the message up. */
static struct rltp_verdict put_failed(struct nic *n, struct rx_record *r, int status)
{
	staged_put_end(n, r->put);
	r->state = RECORD_FAILED;
	r->nack = status == DXP_EACCESS ? WIRE_NACK_RIGHTS : WIRE_NACK_DEVICE;
	return REFUSED(r->nack);
}

static void put_arrived(struct rx_stream *stream, struct rx_record *r)
{
	struct nic *n = peer_nic(stream->peer);

	staged_put_end(n, r->put);
	nic_placed_count(nic_stream_user(n, stream->index), r->bytes);
}

static struct rltp_verdict put_whole(struct rx_stream *stream, struct rx_record *r,
				     const struct wire_header *h)
{
	struct staged_put *put = r->put;
	int status = staged_put_settled(put);

	if (status == DXP_OK) {
		put_arrived(stream, r);
		return ACCEPTED;
	}
	if (status != DXP_EAGAIN)
		return put_failed(peer_nic(stream->peer), r, status);
	put->held = true;
	put->psn = h->psn;
	put->payload_bytes = h->payload_bytes;
	return (struct rltp_verdict){WIRE_NACK_HELD, put->retry_us};
}

/* From now on the sender sends only granted packets; earlier ones may still arrive. */
static struct rltp_verdict put_waits(struct staged_put *put, const struct wire_header *h)
{
	/* Such a packet withdraws the grant. */
	if (!put->waits || h->sub < put->granted)
		put->granted = begun(put);
	put->waits = true;
	put->psn = h->psn;
	return (struct rltp_verdict){.code = WIRE_NACK_WAIT, .granted = put->granted};
}

struct rltp_verdict staged_place(struct rx_stream *stream, struct rx_record *r,
				 const struct wire_header *h, uint64_t at, const uint8_t *payload,
				 const struct nic_place *to)
{
	if (!r->put && r->packets > 0)
		/* the message began in memory that is not staged */
		return REFUSED(WIRE_NACK_BOUNDS);
	if (!r->put) {
		struct rltp_verdict verdict = put_begin(stream, r, h, to);
		if (verdict.code != 0)
			return verdict;
	}
	struct staged_put *put = r->put;
	if (put->region != to->region || put->offset != to->offset || !packet_good(put, r, h))
		return REFUSED(WIRE_NACK_BOUNDS);
	int status = payload_give(put, h, at, payload);
	if (status == DXP_EAGAIN)
		return NOT_READY;
	if (status == DXP_EBUSY)
		return put_waits(put, h);
	if (status != DXP_OK)
		return put_failed(peer_nic(stream->peer), r, status);
	rx_map_set(&put->subs, h->sub);
	uint32_t count = h->flags & WIRE_FLAG_LAST ? h->sub + 1 : r->packet_count;
	return r->packets + 1 == count ? put_whole(stream, r, h) : ACCEPTED;
}

void staged_registers_end(struct nic *n, const struct nic_area *area)
{
	for (struct staged_put *put = n->puts, *next; put; put = next) {
		const struct rx_record *r = put->record;
		next = put->next;
		if (r && r->range.arming != 0 && !put->held && put->region->key == area->key &&
		    put->offset - area->offset < area->bytes)
			staged_put_end(n, put);
	}
}

/* The retry matters only if the final answer is lost, and a message that took long can wait
 * longer. */
struct rltp_verdict staged_held_again(struct rx_record *r)
{
	struct staged_put *put = r->put;

	put->retry_us = (uint32_t)min_u64(2 * put->retry_us, NIC_HELD_RETRY_MAX_US);
	return (struct rltp_verdict){WIRE_NACK_HELD, put->retry_us};
}

void staged_record_clear(struct nic *n, struct rx_record *r)
{
	if (r->type == WIRE_PUT && r->put)
		staged_put_end(n, r->put);
	else if (r->type == WIRE_GET_REQ)
		free(r->read);
}

bool staged_holds(const struct rx_record *r, uint32_t psn)
{
	return r->state == RECORD_HELD && r->put->psn == psn;
}

static void held_refuse(struct nic *n, struct rx_stream *stream, struct rx_record *r, uint32_t psn,
			int status)
{
	struct nic_user *u = nic_stream_user(n, stream->index);
	uint16_t qp = stream->index % NIC_QPS_PER_FUNCTION;
	uint32_t index = (uint32_t)(r - stream->records);
	struct wire_nack_body nack = {
		.code = put_failed(n, r, status).code,
		.qp = qp,
		.msg_id = stream->next + (index - stream->next) % NIC_STREAM_WINDOW,
		.psn = psn,
	};

	u->function->counters[qp].refused++;
	access_refused(n, u, nack.code);
	rltp_endpoint_refuse(n->endpoint, stream->peer->session, &nack);
}

static void peer_settled(struct nic *n, struct staged_put *put)
{
	struct rx_stream *stream = put->stream;
	struct rltp_session *s = stream->peer->session;
	struct rx_record *r = put->record;
	uint32_t psn = put->psn, bytes = put->payload_bytes;
	int status = put->held ? staged_put_settled(put) : DXP_EAGAIN;

	if (!put->held && put->waits)
		put_call(n, put, UINT32_MAX);
	if (status == DXP_EAGAIN)
		return;
	if (status != DXP_OK) {
		held_refuse(n, stream, r, psn, status);
		return;
	}
	put_arrived(stream, r);
	rltp_endpoint_accept(n->endpoint, s, psn, bytes, n->now_ns);
	receive_record_whole(stream, r);
}

void nic_staged_settled(struct nic *n, struct nic_staged_write *w, uint64_t now_ns)
{
	struct staged_put *put = put_of(n, w);

	n->now_ns = now_ns;
	if (!put)
		return;
	if (put->request)
		staged_local_settled(n, put);
	else
		peer_settled(n, put);
	if (n->stops)
		users_settle(n);
}
