/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivers packets that RLTP accepts. Checks queue pair and magic, then key and bounds of the whole
 * message, before it places bytes. A rejection changes only counters (C-10, C-27, C-33). */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/payload.h"
#include "nic/atomic.h"
#include "nic/internal.h"

#define ACCEPTED      ((struct rltp_verdict){0, 0})
#define REFUSED(code) ((struct rltp_verdict){code, 0})
#define NOT_READY     ((struct rltp_verdict){WIRE_NACK_RNR, RLTP_RNR_RETRY_US})

/* The packets of a message but the last have equal size. False: the payload does not lie inside. */
static bool payload_offset(const struct wire_header *h, uint64_t *offset)
{
	if (h->payload_bytes > h->msg_bytes)
		return false;
	uint64_t last = h->msg_bytes - h->payload_bytes;
	*offset = h->flags & WIRE_FLAG_LAST ? last : (uint64_t)h->sub * h->payload_bytes;
	return *offset <= last;
}

/* Rejects a request until a key or magic of its peer may be compared. The sender retransmits once
 * in RLTP_RTO_MAX_NS, so a longer wait has no effect. */
static struct rltp_verdict later(uint64_t wait_ns)
{
	return (struct rltp_verdict){WIRE_NACK_RNR,
				     (uint32_t)(min_u64(wait_ns, RLTP_RTO_MAX_NS) / US_NS) + 1, 0};
}

static struct rltp_verdict region_check(struct nic_peer *p, struct nic_user *u, uint32_t key,
					uint32_t right, uint64_t offset, uint64_t bytes,
					struct nic_region **out)
{
	struct nic *n = peer_nic(p);
	uint64_t wait_ns = access_key_wait(n, &p->guesses, key);

	if (wait_ns > 0)
		return later(wait_ns);
	uint8_t code = access_region(u, &p->guesses, key, right, offset, bytes, out);
	return code == WIRE_NACK_RNR ? NOT_READY : REFUSED(code);
}

/* Each packet is checked as the whole message, so a message out of bounds writes nothing. */
static struct rltp_verdict put_find(struct nic_peer *p, struct nic_user *u,
				    const struct rx_record *r, const struct wire_header *h,
				    uint64_t offset, struct nic_place *to)
{
	if (h->key == WIRE_KEY_REGISTERS) {
		if (!registers_place(u, &r->range, to))
			return REFUSED(WIRE_NACK_RESOURCE);
		uint8_t code = region_reach(to->region, to->offset, h->msg_bytes);
		return code == WIRE_NACK_RNR ? NOT_READY : REFUSED(code);
	}
	if (offset > h->addr)
		return REFUSED(WIRE_NACK_BOUNDS);
	to->offset = h->addr - offset;
	return region_check(p, u, h->key, NIC_REMOTE_WRITE, to->offset, h->msg_bytes, &to->region);
}

static struct rltp_verdict put_place(struct rx_stream *stream, struct rx_record *r,
				     const struct wire_header *h, const uint8_t *payload)
{
	struct nic *n = peer_nic(stream->peer);
	struct nic_user *u = nic_stream_user(n, stream->index);
	struct nic_place to;
	uint64_t offset;

	if (!payload_offset(h, &offset))
		return REFUSED(WIRE_NACK_BOUNDS);
	struct rltp_verdict verdict = put_find(stream->peer, u, r, h, offset, &to);
	if (verdict.code != 0)
		return verdict;
	if (to.region->staged || r->put)
		return staged_place(stream, r, h, offset, payload, &to);
	payload_place(region_at(to.region, to.offset + offset), payload, h->payload_bytes,
		      h->msg_bytes - offset - h->payload_bytes);
	nic_placed_count(u, h->payload_bytes);
	return ACCEPTED;
}

/* Reserves the answer, and its body for registers, so that every accepted request can be answered.
 * The last one is for the next request of its stream; otherwise requests that wait for it could
 * hold all. */
static bool answer_reserve(struct nic_peer *p, struct rx_record *r, bool next, bool body)
{
	struct nic *n = peer_nic(p);
	uint32_t most = reads_max(n) - !next;
	struct nic_message *m = p->work->answers < most ? pool_message_get(n) : NULL;

	if (m && body) {
		m->body = malloc(4 * NIC_CFG_WORDS_MAX);
		m->data = m->body;
	}
	if (!m || (body && !m->body)) {
		if (m)
			pool_message_put(n, m);
		return false;
	}
	r->answer = m;
	p->work->answers++;
	return true;
}

static struct rltp_verdict get_check(struct nic_peer *p, struct nic_user *u, struct rx_record *r,
				     const struct wire_header *h, const uint8_t *payload, bool next)
{
	struct nic_region *region;

	if (wire_get_decode(payload, h->payload_bytes, &r->get) != DXP_OK || r->get.bytes == 0 ||
	    r->get.bytes > NIC_MESSAGE_BYTES_MAX)
		return REFUSED(WIRE_NACK_BOUNDS);
	struct rltp_verdict verdict =
		region_check(p, u, h->key, NIC_REMOTE_READ, h->addr, r->get.bytes, &region);
	if (verdict.code != 0)
		return verdict;
	if (!answer_reserve(p, r, next, false))
		return NOT_READY;
	if (region->staged) {
		r->read = staged_read_create();
		if (!r->read)
			return NOT_READY; /* stream_record_clear() frees the answer */
	}
	region->uses++;
	r->region = region;
	return ACCEPTED;
}

/* The region of the 8 bytes stays registered until execution. */
static struct rltp_verdict atomic_check(struct nic_peer *p, struct nic_user *u, struct rx_record *r,
					const struct wire_header *h, const uint8_t *payload,
					bool next)
{
	struct nic_region *region;

	if (wire_atomic_decode(payload, h->payload_bytes, &r->atomic) != DXP_OK)
		return REFUSED(WIRE_NACK_BOUNDS);
	struct rltp_verdict verdict =
		region_check(p, u, h->key, NIC_REMOTE_ATOMIC, h->addr, sizeof(uint64_t), &region);
	if (verdict.code != 0)
		return verdict;
	if (region->staged)
		return REFUSED(WIRE_NACK_UNSUPPORTED);
	if ((uintptr_t)region_at(region, h->addr) % sizeof(uint64_t) != 0)
		return REFUSED(WIRE_NACK_BOUNDS);
	if (!atomic_known(r->atomic.op))
		return REFUSED(WIRE_NACK_UNSUPPORTED);
	if (!answer_reserve(p, r, next, false))
		return NOT_READY;
	region->uses++;
	r->region = region;
	return ACCEPTED;
}

static bool cfg_shape_good(const struct wire_header *h, const uint8_t *payload)
{
	uint32_t words = h->payload_bytes / 4;

	if (h->payload_bytes % 4 != 0 || words == 0 || words > NIC_CFG_WORDS_MAX ||
	    h->msg_bytes != h->payload_bytes || h->addr % 4 != 0 || h->addr / 4 > UINT32_MAX)
		return false;
	return h->type != WIRE_CFG_RD || (words == 1 && get_be32(payload) <= NIC_CFG_WORDS_MAX);
}

static struct rltp_verdict cfg_check(struct nic_peer *p, struct rx_record *r,
				     const struct wire_header *h, const uint8_t *payload, bool next)
{
	struct nic *n = peer_nic(p);

	if (!n->options.cfg)
		return REFUSED(WIRE_NACK_UNSUPPORTED);
	if (!cfg_shape_good(h, payload))
		return REFUSED(WIRE_NACK_BOUNDS);
	r->held = pool_buffer_get(n, 0);
	if (!r->held || !answer_reserve(p, r, next, true))
		return NOT_READY; /* stream_record_clear() frees the buffer */
	memcpy(r->held, payload, h->payload_bytes);
	return ACCEPTED;
}

static bool raises_event(const struct wire_header *h)
{
	return h->type == WIRE_NAP || (h->type == WIRE_PUT && h->flags & WIRE_FLAG_SOL);
}

/* A packet of each earlier message has arrived: receive areas are filled in the order of
 * posting. */
static bool all_begun(const struct rx_stream *stream, uint32_t id)
{
	for (uint32_t i = stream->next; i != id; i++)
		if (stream->records[i % NIC_STREAM_WINDOW].state == RECORD_EMPTY)
			return false;
	return true;
}

static struct rltp_verdict registers_begin(struct nic *n, struct nic_user *u,
					   struct rx_stream *stream, const struct wire_header *h,
					   struct nic_register_range *out)
{
	if (u->registers && !all_begun(stream, h->msg_id))
		return NOT_READY;
	return REFUSED(access_registers(u, h->msg_bytes, out));
}

/* Reserves what a message needs. Without credit, it waits as without space. */
static struct rltp_verdict record_begin(struct nic *n, struct nic_user *u, struct rx_stream *stream,
					struct rx_record *r, const struct wire_header *h)
{
	bool event = raises_event(h);

	if (h->type == WIRE_NAP && h->msg_bytes > NIC_NAP_BYTES_MAX)
		return REFUSED(WIRE_NACK_BOUNDS);
	if (event && (!credit_left(stream) || !event_received_space(u, h->msg_id == stream->next)))
		return NOT_READY;
	struct rx_record fresh = {.type = h->type, .bytes = h->msg_bytes, .reserved = event};
	if (h->type == WIRE_NAP) {
		fresh.src_qp = h->key;
		fresh.held = pool_buffer_get(n, h->msg_bytes);
		if (!fresh.held)
			return NOT_READY;
	}
	if (h->type == WIRE_PUT && h->key == WIRE_KEY_REGISTERS) {
		struct rltp_verdict verdict = registers_begin(n, u, stream, h, &fresh.range);
		if (verdict.code != 0)
			return verdict;
	}
	if (event)
		event_received_reserve(u);
	*r = fresh;
	stream_record_enter(stream, r, RECORD_PARTIAL);
	return ACCEPTED;
}

/* A GET, ATOMIC or CFG request is one packet, so that it reserves its answer once. */
static bool position_good(const struct wire_header *h)
{
	const uint16_t whole = WIRE_FLAG_FIRST | WIRE_FLAG_LAST;

	return h->type == WIRE_NAP || h->type == WIRE_PUT ||
	       ((h->flags & whole) == whole && h->sub == 0);
}

static struct rltp_verdict nap_place(struct rx_record *r, const struct wire_header *h,
				     const uint8_t *payload)
{
	uint64_t offset;

	if (!payload_offset(h, &offset))
		return REFUSED(WIRE_NACK_BOUNDS);
	memcpy(r->held + offset, payload, h->payload_bytes);
	return ACCEPTED;
}

static struct rltp_verdict payload_receive(struct rx_stream *stream, struct rx_record *r,
					   const struct wire_header *h, const uint8_t *payload)
{
	struct nic_peer *p = stream->peer;
	struct nic_user *u = nic_stream_user(peer_nic(p), stream->index);
	bool next = h->msg_id == stream->next;

	switch (h->type) {
	case WIRE_NAP: return nap_place(r, h, payload);
	case WIRE_PUT: return put_place(stream, r, h, payload);
	case WIRE_GET_REQ: return get_check(p, u, r, h, payload, next);
	case WIRE_ATOMIC: return atomic_check(p, u, r, h, payload, next);
	default: return cfg_check(p, r, h, payload, next);
	}
}

static bool record_count(struct rx_record *r, const struct wire_header *h)
{
	r->packets++;
	if (h->flags & WIRE_FLAG_IMM)
		r->imm = h->imm;
	if (h->flags & WIRE_FLAG_TRAILER)
		r->trailer = h->trailer;
	if (h->flags & WIRE_FLAG_LAST)
		r->packet_count = h->sub + 1;
	return r->packets == r->packet_count;
}

static void message_count(struct nic *n, uint32_t stream, uint8_t type, uint32_t bytes)
{
	struct nic_user *u = nic_stream_user(n, stream);
	struct nic_qp_counters *c = &u->function->counters[stream % NIC_QPS_PER_FUNCTION];

	c->received_messages++;
	c->received_bytes += bytes;
	u->counted = true;
	switch (type) {
	case WIRE_NAP: n->counters.naps_received++; break;
	case WIRE_PUT: n->counters.puts_received++; break;
	case WIRE_GET_REQ: n->counters.gets_received++; break;
	case WIRE_ATOMIC: n->counters.atomics_received++; break;
	default: n->counters.cfg_received++;
	}
}

/* Delivers the usual NAP, a single packet and next in order, directly to its buffer in the
 * window. */
static bool nap_direct(struct nic_peer *p, struct nic_user *u, struct rx_stream *stream,
		       const struct wire_header *h, const uint8_t *payload)
{
	const uint16_t whole = WIRE_FLAG_FIRST | WIRE_FLAG_LAST;
	struct dxp_nic_event event = {
		.context = h->trailer,
		.imm = h->imm,
		.bytes = h->msg_bytes,
		.qp = user_qp(u, h->dst_qp),
		.node = h->src_node,
		.peer_qp = (uint16_t)h->key,
		.type = DXP_EVENT_NAP,
	};

	if (h->type != WIRE_NAP || (h->flags & whole) != whole || h->msg_id != stream->next ||
	    h->msg_bytes != h->payload_bytes || h->msg_bytes > NIC_NAP_BYTES_MAX ||
	    !credit_left(stream) || !event_received_space(u, true))
		return false;
	event_received_write(u, &event, payload);
	credit_use(stream);
	stream->next++;
	message_count(peer_nic(p), stream->index, h->type, h->msg_bytes);
	stream_rx_run(stream);
	return true;
}

/* Ends a message after a rejected packet. A message to receive registers is given up, because later
 * packets could find space and leave a gap; after RNR it begins again. */
static void refusal_settle(struct rx_stream *stream, struct rx_record *r,
			   const struct wire_header *h, uint8_t code, bool fresh)
{
	if (h->type == WIRE_PUT && h->key == WIRE_KEY_REGISTERS && code != WIRE_NACK_RNR)
		stream_record_abort(stream, r, fresh && raises_event(h));
	else if (fresh) {
		if (r->type == WIRE_PUT && r->range.arming != 0)
			registers_unreserve(nic_stream_user(peer_nic(stream->peer), stream->index),
					    &r->range, r->bytes);
		stream_record_clear(stream, r, false);
	}
}

/* Returns the bytes that the operation moves, as its sender counts them. */
static uint32_t bytes_moved(const struct rx_record *r)
{
	switch (r->type) {
	case WIRE_GET_REQ: return (uint32_t)r->get.bytes;
	case WIRE_ATOMIC: return sizeof(uint64_t);
	case WIRE_CFG_RD: return 4 * get_be32(r->held);
	default: return r->bytes;
	}
}

void receive_record_whole(struct rx_stream *stream, struct rx_record *r)
{
	r->state = RECORD_WHOLE;
	message_count(peer_nic(stream->peer), stream->index, r->type, bytes_moved(r));
	stream_rx_run(stream);
}

static struct rltp_verdict record_receive(struct nic_peer *p, struct nic_user *u,
					  struct rx_stream *stream, struct rx_record *r,
					  const struct wire_header *h, const uint8_t *payload)
{
	struct nic *n = peer_nic(p);
	bool fresh = r->state == RECORD_EMPTY;
	struct rltp_verdict verdict = ACCEPTED;

	if (staged_holds(r, h->psn))
		return staged_held_again(r);
	if (r->state == RECORD_FAILED)
		return REFUSED(r->nack);
	if (fresh)
		verdict = record_begin(n, u, stream, r, h);
	else if (r->state != RECORD_PARTIAL || r->type != h->type || r->bytes != h->msg_bytes)
		return REFUSED(WIRE_NACK_RESOURCE);
	if (verdict.code == 0)
		verdict = payload_receive(stream, r, h, payload);
	bool held = verdict.code == WIRE_NACK_HELD;
	bool waits =
		/* its record stays */
		verdict.code == WIRE_NACK_WAIT;
	if (verdict.code != 0 && !held && !waits) {
		refusal_settle(stream, r, h, verdict.code, fresh);
		return verdict;
	}
	if (fresh && r->reserved)
		credit_use(stream);
	r->addr = h->addr;
	r->key = h->key;
	if (waits)
		return verdict;
	bool whole = record_count(r, h);
	if (held)
		r->state = RECORD_HELD;
	else if (whole)
		receive_record_whole(stream, r);
	return verdict;
}

/* The caller has checked the magic. */
static struct rltp_verdict message_receive(struct nic_peer *p, struct nic_user *u,
					   const struct wire_header *h, const uint8_t *payload)
{
	struct rx_stream *stream = stream_rx_get(p, nic_stream_index(h->dst_function, h->dst_qp));

	if (!stream)
		return NOT_READY;
	if (h->msg_id - stream->next >= NIC_STREAM_WINDOW)
		return REFUSED(WIRE_NACK_RESOURCE);
	if (!position_good(h))
		return REFUSED(WIRE_NACK_BOUNDS);
	/* A stream without records needs no lookup. */
	if (stream->held == 0 && nap_direct(p, u, stream, h, payload))
		return ACCEPTED;
	struct rx_record *r = &stream->records[h->msg_id % NIC_STREAM_WINDOW];
	if (r->state == RECORD_EMPTY && nap_direct(p, u, stream, h, payload))
		return ACCEPTED;
	return record_receive(p, u, stream, r, h, payload);
}

static struct rltp_verdict request_receive(struct nic_peer *p, const struct wire_header *h,
					   const uint8_t *payload)
{
	struct nic *n = peer_nic(p);
	uint64_t wait_ns = access_magic_wait(n, &p->guesses, h->dst_function, h->dst_qp);

	if (wait_ns > 0)
		return later(wait_ns);
	struct nic_user *u = access_user(n, &p->guesses, h->dst_function, h->dst_qp, h->qp_magic);
	if (!u)
		return REFUSED(WIRE_NACK_MAGIC);
	struct rltp_verdict verdict = outside_permits(p, h) ? message_receive(p, u, h, payload)
							    : REFUSED(WIRE_NACK_RIGHTS);
	if (verdict.code != 0 && verdict.code != WIRE_NACK_HELD) {
		u->function->counters[h->dst_qp].refused++;
		access_refused(n, u, verdict.code);
	}
	return verdict;
}

struct rltp_verdict receive_packet_deliver(void *user, struct rltp_session *s,
					   const struct wire_header *h, const uint8_t *payload)
{
	struct nic_peer *p = nic_peer_of(s);
	struct nic *n = user;

	switch (h->type) {
	case WIRE_NAP:
	case WIRE_PUT:
	case WIRE_GET_REQ:
	case WIRE_ATOMIC:
	case WIRE_CFG_RD:
	case WIRE_CFG_WR: return request_receive(p, h, payload);
	case WIRE_GET_RSP:
	case WIRE_ATOMIC_RSP:
	case WIRE_CFG_RD_RSP:
	case WIRE_CFG_WR_RSP: read_answer_receive(p, h, payload); return ACCEPTED;
	default: n->counters.type_reject++; return REFUSED(WIRE_NACK_UNSUPPORTED);
	}
}
