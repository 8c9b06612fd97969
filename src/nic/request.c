/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a request into messages and completes it when all have completed. Each message is contiguous
 * in the peer's memory and gathers few local pieces. Cutting pauses while a stream or the table of
 * reads is full. */
#include <assert.h>
#include <string.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "nic/internal.h"

void request_pieces_drop(struct nic_request *r)
{
	for (uint16_t i = 0; i < r->local_count; i++) {
		const struct nic_piece *p = &r->local[i];
		region_drop(p->region,
			    p->region->staged ? p->offset : (uint64_t)(p->base - p->region->base));
	}
	r->local_count = 0;
	local_release(r);
}

static void request_free(struct nic *n, struct nic_request *r)
{
	request_pieces_drop(r);
	bounce_close(r);
	chain_free(r);
	pool_request_put(n, r);
}

static void completion_count(struct nic_qp_counters *c, const struct nic_request *r)
{
	if (r->status != DXP_OK) {
		c->failed++;
		return;
	}
	c->sent_messages++;
	c->sent_bytes += r->total;
}

static void request_complete(struct nic_function *f, struct nic_queue *q, struct nic_request *r)
{
	const struct dxp_nic_event event = {
		.context = r->head.context,
		.imm = r->old,
		.bytes = r->total,
		.qp = user_qp(r->user, r->head.qp),
		.node = r->head.dst_node,
		.peer_qp = (uint16_t)(r->head.dst_function << 8 | r->head.dst_qp),
		.type = DXP_EVENT_SENT,
		.status = (int8_t)r->status,
	};

	if (!q->head)
		f->busy &= (uint8_t) ~(1u << r->head.qp);
	q->outstanding--;
	f->outstanding--;
	r->user->outstanding--;
	r->user->counted = true;
	completion_count(&f->counters[r->head.qp], r);
	if (r->registers)
		registers_sent(r->user, r->status);
	else
		event_sent_write(r->user, &event);
	request_free(f->nic, r);
}

/* Completes requests of a queue pair in the order of posting, or in any order if its user is
 * unordered. */
static void queue_complete(struct nic_function *f, struct nic_queue *q)
{
	struct nic_request *previous = NULL, *next;

	for (struct nic_request *r = q->head; r; r = next) {
		next = r->next;
		if (!r->cut_done || r->pending > 0) {
			if (!r->user->unordered)
				return;
			previous = r;
			continue;
		}
		*(previous ? &previous->next : &q->head) = next;
		if (!next)
			q->tail = previous;
		if (q->uncut == r)
			q->uncut = next;
		request_complete(f, q, r);
	}
}

void request_queue(struct nic_request *r)
{
	struct nic_queue *q = &r->function->queues[r->head.qp];

	r->next = NULL;
	if (q->tail)
		q->tail->next = r;
	else
		q->head = r;
	q->tail = r;
	if (!q->uncut)
		q->uncut = r;
	q->outstanding++;
	r->function->outstanding++;
	r->user->outstanding++;
}

void request_give_up(struct nic_request *r, int status)
{
	if (r->status == DXP_OK)
		r->status = status;
	r->cut_done = true;
	credit_unwait(r);
	space_unwait(r);
	staged_local_drop(r);
	local_release(r);
}

void request_finished(struct nic_request *r, int status)
{
	assert(r->pending > 0);
	r->pending--;
	r->function->nic->space = true;
	if (status != DXP_OK)
		request_give_up(r, status);
	if (r->cut_done && r->pending == 0)
		queue_complete(r->function, &r->function->queues[r->head.qp]);
}

/* NULL: no space now. The credit comes last, so that no other failure can lose it. */
static struct nic_message *message_begin(struct nic_request *r, struct nic_peer *p, uint8_t type,
					 bool event)
{
	uint32_t index = nic_stream_index(r->head.dst_function, r->head.dst_qp);
	struct tx_stream *t = stream_tx_get(p, index);

	if (!t || rltp_session_wake(p->session, peer_nic(p)->now_ns) != DXP_OK) {
		nic_memory_short(peer_nic(p));
		return NULL;
	}
	if (t->next - t->una >= NIC_STREAM_WINDOW)
		return NULL;
	struct nic_message *m = pool_message_get(peer_nic(p));
	if (!m) {
		nic_memory_short(peer_nic(p));
		return NULL;
	}
	if (event && !credit_consume(r, p, t)) {
		pool_message_put(peer_nic(p), m);
		return NULL;
	}
	m->rltp.type = type;
	m->rltp.flow = RLTP_FLOW(r->function->index, r->head.qp);
	m->request = r;
	m->peer = p;
	m->stream = t;
	m->fields = (struct nic_fields){
		.dst_qp = r->head.dst_qp,
		.dst_function = r->head.dst_function,
		.qp_magic = r->head.dst_magic,
		.msg_id = t->next,
		.imm = r->head.imm,
	};
	return m;
}

static void message_commit(struct nic_message *m)
{
	struct nic_function *f = m->request->function;

	f->order.served |= (uint8_t)(1u << m->request->head.qp);
	f->nic->order.served |= (uint8_t)(1u << f->index);
	m->stream->next++;
	m->request->pending++;
	if (f->limit.bytes_per_s)
		send_message_unsent(m, m->rltp.bytes + WIRE_DATA_BYTES);
	send_message_post(m);
}

static void trailer_add(struct nic_message *m)
{
	m->fields.trailer = m->request->head.trailer;
	if (m->fields.trailer)
		m->rltp.flags |= WIRE_FLAG_TRAILER;
}

static bool nap_cut(struct nic_request *r, struct nic_peer *p)
{
	struct nic_message *m = message_begin(r, p, WIRE_NAP, true);
	uint32_t filled = 0;

	if (!m)
		return false;
	for (uint16_t i = 0; i < r->local_count; i++) {
		memcpy(r->immediate + filled, r->local[i].base, r->local[i].bytes);
		filled += r->local[i].bytes;
	}
	/* the request outlives the message */
	m->data = r->immediate;
	m->rltp.bytes = r->total;
	m->rltp.flags = r->head.imm ? WIRE_FLAG_IMM | WIRE_FLAG_SOL : WIRE_FLAG_SOL;
	trailer_add(m);
	m->fields.key = (uint32_t)(r->function->index << 8 | r->head.qp);
	r->cut_done = true;
	peer_nic(p)->counters.naps_sent++;
	message_commit(m);
	return true;
}

/* The message ends with the remote piece, or after `local_pieces` local ones. */
static uint32_t piece_span(const struct nic_request *r, uint32_t local_pieces)
{
	uint32_t remote_left = r->remote[r->remote_index].bytes - r->remote_used;
	uint64_t local_left = 0;

	for (uint32_t i = 0; i < local_pieces && r->local_index + i < r->local_count; i++)
		local_left += r->local[r->local_index + i].bytes - (i == 0 ? r->local_used : 0);
	return remote_left < local_left ? remote_left : (uint32_t)local_left;
}

static void request_consume(struct nic_request *r, uint32_t bytes)
{
	r->cut += bytes;
	r->remote_used += bytes;
	if (r->remote_used == r->remote[r->remote_index].bytes) {
		r->remote_index++;
		r->remote_used = 0;
	}
	while (bytes > 0) {
		uint32_t left = r->local[r->local_index].bytes - r->local_used;
		uint32_t part = bytes < left ? bytes : left;
		r->local_used += part;
		bytes -= part;
		if (part == left) {
			r->local_index++;
			r->local_used = 0;
		}
	}
	r->cut_done = r->cut == r->total && !bounce_stores(r);
}

static bool put_cut(struct nic_request *r, struct nic_peer *p)
{
	uint32_t bytes = piece_span(r, DATAGRAM_SLICES_MAX);
	if (r->remote[r->remote_index].key != WIRE_KEY_REGISTERS)
		bytes = (uint32_t)min_u64(bytes, limit_message_bytes(r->function));
	bool event = r->head.flags & DXP_FLAG_NOTIFY && r->cut + bytes == r->total;
	struct nic_message *m = message_begin(r, p, WIRE_PUT, event);

	if (!m)
		return false;
	m->rltp.bytes = bytes;
	m->pieces = &r->local[r->local_index];
	m->piece_offset = r->local_used;
	m->fields.addr = r->remote[r->remote_index].offset + r->remote_used;
	m->fields.key = r->remote[r->remote_index].key;
	request_consume(r, bytes);
	if (event) {
		m->rltp.flags = WIRE_FLAG_SOL | WIRE_FLAG_IMM;
		trailer_add(m);
	}
	peer_nic(p)->counters.puts_sent += r->cut_done;
	message_commit(m);
	return true;
}

/* Also reserves the entry in the table of reads. */
static struct nic_message *read_message_begin(struct nic_request *r, struct nic_peer *p,
					      uint8_t type, struct nic_read **read)
{
	*read = read_begin(p);
	if (!*read)
		return NULL;
	return message_begin(r, p, type, false);
}

static void read_message_commit(struct nic_message *m, struct nic_read *read)
{
	struct nic_peer *p = m->peer;

	read->request = m->request;
	m->request->pending++;
	m->read_id = read->id;
	m->rltp.flow = read_flow(
		nic_stream_index((uint8_t)m->request->function->index, m->request->head.qp));
	message_commit(m);
	p->work->read_count++;
	/* after the post, which starts the peer's dead timer */
	rltp_session_await(p->session, peer_nic(p)->now_ns);
}

static bool get_cut(struct nic_request *r, struct nic_peer *p)
{
	struct nic_read *read;
	struct nic_message *m = read_message_begin(r, p, WIRE_GET_REQ, &read);

	if (!m)
		return false;
	uint32_t bytes = piece_span(r, 1);
	struct wire_get get = {
		.reply_key = r->local[r->local_index].key,
		.reply_msg_id = read->id,
		.bytes = bytes,
	};
	read->type = WIRE_GET_RSP;
	read->to = r->local[r->local_index].base + r->local_used;
	read->addr = 0;
	read->bytes = read->left = bytes;
	wire_get_encode(&get, m->small);
	m->data = m->small;
	m->rltp.bytes = WIRE_GET_BYTES;
	m->fields.addr = r->remote[r->remote_index].offset + r->remote_used;
	m->fields.key = r->remote[r->remote_index].key;
	request_consume(r, bytes);
	peer_nic(p)->counters.gets_sent += r->cut_done;
	read_message_commit(m, read);
	return true;
}

static bool atomic_cut(struct nic_request *r, struct nic_peer *p)
{
	struct nic_read *read;
	struct nic_message *m = read_message_begin(r, p, WIRE_ATOMIC, &read);

	if (!m)
		return false;
	struct wire_atomic atomic = {
		.op = r->head.op,
		.reply_msg_id = read->id,
		.operand = r->head.imm,
		.swap = r->head.op == DXP_OP_COMPARE_SWAP ? r->head.trailer : 0,
	};
	read->type = WIRE_ATOMIC_RSP;
	read->to = r->local_count > 0 ? r->local[0].base : NULL;
	wire_atomic_encode(&atomic, m->small);
	m->data = m->small;
	m->rltp.bytes = WIRE_ATOMIC_BYTES;
	m->fields.addr = r->remote[0].offset;
	m->fields.key = r->remote[0].key;
	r->cut_done = true;
	peer_nic(p)->counters.atomics_sent++;
	read_message_commit(m, read);
	return true;
}

static bool cfg_cut(struct nic_request *r, struct nic_peer *p)
{
	bool writing = r->head.op == DXP_OP_CFG_WRITE;
	struct nic_read *read;
	struct nic_message *m =
		read_message_begin(r, p, writing ? WIRE_CFG_WR : WIRE_CFG_RD, &read);

	if (!m)
		return false;
	read->type = writing ? WIRE_CFG_WR_RSP : WIRE_CFG_RD_RSP;
	read->to = writing ? NULL : r->local[0].base;
	read->addr = r->remote[0].offset;
	read->bytes = read->left = writing ? 0 : r->total;
	for (uint32_t i = 0; writing && i < r->total; i += 4) {
		uint32_t value;
		memcpy(&value, r->immediate + i, sizeof(value));
		put_be32(r->immediate + i, value);
	}
	m->rltp.bytes = writing ? r->total : 4;
	m->data = writing ? r->immediate : m->small;
	if (!writing)
		put_be32(m->small, r->total / 4);
	m->fields.addr = r->remote[0].offset;
	m->fields.key = read->id;
	r->cut_done = true;
	peer_nic(p)->counters.cfg_sent++;
	read_message_commit(m, read);
	return true;
}

static void request_advance(struct nic_request *r, int64_t *left)
{
	bool more = true;

	if (nic_stream_index(r->head.dst_function, r->head.dst_qp) == NIC_STREAMS) {
		request_give_up(r, DXP_EINVAL);
		return;
	}
	if (local_node(r->function->nic, r->head.dst_node)) {
		local_advance(r, left);
		return;
	}
	while (!r->cut_done && more && (!r->chain || chain_advance(r, left)) &&
	       limit_begins(r->user)) {
		struct nic_peer *p = nic_peer_find(r->function->nic, r->head.dst_node);
		if (!p) {
			request_give_up(r, DXP_ENOENT);
			return;
		}
		if (r->head.dst_magic == 0) {
			request_give_up(r, DXP_EACCESS); /* magic 0 marks answers */
			return;
		}
		switch (r->head.op) {
		case DXP_OP_NAP: more = nap_cut(r, p); break;
		case DXP_OP_PUT: more = put_cut(r, p); break;
		case DXP_OP_GET: more = get_cut(r, p); break;
		case DXP_OP_CFG_READ:
		case DXP_OP_CFG_WRITE: more = cfg_cut(r, p); break;
		default: more = atomic_cut(r, p);
		}
	}
}

/* A request that cannot be cut completely blocks those behind it. */
void request_queue_advance(struct nic_function *f, struct nic_queue *q, int64_t *left)
{
	while (q->uncut) {
		if (!q->uncut->cut_done)
			request_advance(q->uncut, left);
		if (!q->uncut->cut_done)
			break;
		q->uncut = q->uncut->next;
	}
	queue_complete(f, q);
}

void request_queues_advance(struct nic_function *f)
{
	for (uint32_t i = 0; i < NIC_QPS_PER_FUNCTION; i++) {
		/* share_function_copy() does all copies */
		int64_t left = 0;
		request_queue_advance(f, &f->queues[f->order.at[i]], &left);
	}
	share_order_next(&f->order, NIC_QPS_PER_FUNCTION);
}

void requests_fail(struct nic *n, uint16_t node, int status)
{
	for (uint32_t i = 0; i < NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION; i++) {
		struct nic_function *f = nic_stream_function(n, i);
		struct nic_queue *q = &f->queues[i % NIC_QPS_PER_FUNCTION];
		for (struct nic_request *r = q->uncut; r; r = r->next)
			if (!r->cut_done && r->head.dst_node == node)
				request_give_up(r, status);
		if (q->uncut)
			queue_complete(f, q);
	}
}

static void queue_drop(struct nic_user *u, struct nic_queue *q, struct nic_qp_counters *c)
{
	for (struct nic_request *r = q->head, *next; r; r = next) {
		next = r->next;
		credit_unwait(r);
		space_unwait(r);
		c->failed++;
		r->pending = 0; /* a later completion would fail an assertion */
		request_free(u->nic, r);
	}
	u->function->outstanding -= q->outstanding;
	*q = (struct nic_queue){0};
}

void requests_drop(struct nic_user *u)
{
	struct nic_function *f = u->function;

	for (uint32_t q = u->first_qp; q < (uint32_t)u->first_qp + u->qp_count; q++) {
		queue_drop(u, &f->queues[q], &f->counters[q]);
		f->busy &= (uint8_t) ~(1u << q);
	}
	u->outstanding = 0;
	u->counted = true;
}
