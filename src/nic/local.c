/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations between users of one NIC (the crossbar of C-02): no packets, one copy. Checks and
 * statuses are those for peers. The whole request is checked before a byte moves. */
#include <string.h>

#include <dxp/status.h>

#include "nic/atomic.h"
#include "nic/internal.h"
#include "wire/frame.h"
#include "wire/ids.h"

#define COPY_LONG_BYTES \
	8192 /* bytes; a longer copy takes more time than a line from another core */

bool local_node(const struct nic *n, uint16_t node)
{
	return node == 0 || (node == n->options.node && node != WIRE_NODE_NONE);
}

/* Returns the node id for events. 0, which also addresses this NIC, while it has no id. */
static uint16_t own_node(const struct nic *n)
{
	return n->options.node == WIRE_NODE_NONE ? 0 : n->options.node;
}

static void refuse(struct nic_request *r, struct nic_user *t, uint8_t code)
{
	t->function->counters[r->head.dst_qp].refused++;
	access_refused(t->nic, t, code);
	request_give_up(r, code == WIRE_NACK_RNR ? DXP_EBUSY : rltp_status_of_nack(code));
}

static void received_count(struct nic_user *t, uint32_t qp, uint32_t bytes)
{
	t->function->counters[qp].received_messages++;
	t->function->counters[qp].received_bytes += bytes;
	t->counted = true;
}

static uint32_t right_of(uint8_t op)
{
	return op == DXP_OP_PUT   ? NIC_REMOTE_WRITE
	       : op == DXP_OP_GET ? NIC_REMOTE_READ
				  : NIC_REMOTE_ATOMIC;
}

static uint8_t piece_admit(struct nic_user *t, struct guesses *by, uint8_t op, struct nic_piece *p)
{
	struct nic_region *region;

	if (op == DXP_OP_PUT && p->key == WIRE_KEY_REGISTERS)
		return access_registers(t, p->bytes, &p->range);
	uint8_t code = access_region(t, by, p->key, right_of(op), p->offset, p->bytes, &region);
	if (code != 0)
		return code;
	p->region = region;
	region->uses++;
	if (region->staged)
		return atomic_known(op) ? WIRE_NACK_UNSUPPORTED : 0;
	p->base = region_at(region, p->offset);
	return atomic_known(op) && (uintptr_t)p->base % sizeof(uint64_t) != 0 ? WIRE_NACK_BOUNDS
									      : 0;
}

/* Resolves the target's pieces, and holds its regions until the request completes. */
static uint8_t pieces_admit(struct nic_request *r, struct nic_user *t)
{
	uint8_t code = 0;

	r->admitted = true;
	for (uint16_t i = 0; i < r->remote_count && code == 0; i++)
		code = piece_admit(t, &r->user->guesses, r->head.op, &r->remote[i]);
	return code;
}

/* Access may have changed since pieces_admit(). */
static uint8_t pieces_reach(struct nic_request *r)
{
	uint8_t code = 0;

	for (uint16_t i = r->remote_index; i < r->remote_count && code == 0; i++) {
		struct nic_piece *p = &r->remote[i];
		if (!p->region)
			continue;
		code = region_reach(p->region, p->offset, p->bytes);
		if (code == 0 && !p->region->staged)
			p->base = region_at(p->region, p->offset);
	}
	return code;
}

void local_release(struct nic_request *r)
{
	for (uint16_t i = 0; r->admitted && i < r->remote_count; i++) {
		if (r->remote[i].region)
			r->remote[i].region->uses--;
		r->remote[i].region = NULL;
	}
}

static uint8_t cfg_admit(const struct nic_request *r, struct nic_user *t)
{
	uint64_t offset = r->remote[0].offset;

	if (!t->nic->options.cfg)
		return WIRE_NACK_UNSUPPORTED;
	return offset % 4 != 0 || offset / 4 > UINT32_MAX ? WIRE_NACK_BOUNDS : 0;
}

static bool op_is_cfg(uint8_t op)
{
	return op == DXP_OP_CFG_READ || op == DXP_OP_CFG_WRITE;
}

bool local_key_waits(struct nic_request *r, uint32_t key)
{
	struct nic *n = r->function->nic;
	uint64_t wait_ns = access_key_wait(n, &r->user->guesses, key);

	if (wait_ns > 0)
		n->look_ns = min_u64(n->look_ns, n->now_ns + wait_ns);
	return wait_ns > 0;
}

bool local_magic_waits(struct nic_request *r)
{
	struct nic *n = r->function->nic;
	uint64_t wait_ns =
		access_magic_wait(n, &r->user->guesses, r->head.dst_function, r->head.dst_qp);

	if (wait_ns > 0)
		n->look_ns = min_u64(n->look_ns, n->now_ns + wait_ns);
	return wait_ns > 0;
}

static bool waits(struct nic_request *r)
{
	if (local_magic_waits(r))
		return true;
	for (uint16_t i = 0; !r->admitted && i < r->remote_count && !op_is_cfg(r->head.op); i++)
		if (r->remote[i].key != WIRE_KEY_REGISTERS && local_key_waits(r, r->remote[i].key))
			return true;
	return false;
}

/* NULL: failed, or waits. Called for each slice, because the target may have been stopped or
 * closed. */
static struct nic_user *target_admit(struct nic_request *r)
{
	const struct dxp_descriptor *d = &r->head;

	if (waits(r))
		return NULL;
	struct nic_user *t = access_user(r->function->nic, &r->user->guesses, d->dst_function,
					 d->dst_qp, d->dst_magic);

	if (!t) {
		request_give_up(r, rltp_status_of_nack(WIRE_NACK_MAGIC));
		return NULL;
	}
	uint8_t code = r->admitted        ? pieces_reach(r)
		       : op_is_cfg(d->op) ? cfg_admit(r, t)
					  : pieces_admit(r, t);
	if (code == 0)
		return t;
	refuse(r, t, code);
	return NULL;
}

static struct dxp_nic_event event_of(const struct nic_user *u, const struct nic_user *t,
				     const struct dxp_descriptor *d, uint32_t bytes,
				     enum dxp_event_type type)
{
	return (struct dxp_nic_event){
		.context = d->trailer,
		.imm = d->imm,
		.bytes = bytes,
		.node = own_node(u->nic),
		.peer_qp = (uint16_t)(u->function->index << 8 | d->qp),
		.qp = user_qp(t, d->dst_qp),
		.type = (uint8_t)type,
	};
}

static void gather(const struct nic_request *r, uint8_t *to)
{
	if (r->local_count == 0 && r->total > 0)
		memcpy(to, r->immediate, r->total);
	for (uint16_t i = 0; i < r->local_count; i++) {
		memcpy(to, r->local[i].base, r->local[i].bytes);
		to += r->local[i].bytes;
	}
}

static void nap_deliver(struct nic_request *r, struct nic_user *t)
{
	struct dxp_nic_event event = event_of(r->user, t, &r->head, r->total, DXP_EVENT_NAP);

	if (!space_acquire(r, t))
		return;
	uint8_t *to = event_received_buffer(t, &event);
	if (!to) {
		refuse(r, t, WIRE_NACK_MAGIC); /* the target has been stopped just now */
		return;
	}
	gather(r, to);
	event_received_publish(t, &event);
	received_count(t, r->head.dst_qp, r->total);
	t->nic->counters.naps_sent++;
	t->nic->counters.naps_received++;
	r->cut = r->total;
	r->cut_done = true;
}

/* Resolves a piece in a receive area to *out; others are returned as they are. NULL: the device
 * withdrew the area, or its memory is gone. */
static const struct nic_piece *piece_now(struct nic_user *t, const struct nic_piece *p,
					 struct nic_piece *out)
{
	struct nic_place to;

	if (p->region)
		return p;
	if (!registers_place(t, &p->range, &to) || region_reach(to.region, to.offset, p->bytes))
		return NULL;
	*out = (struct nic_piece){
		.offset = to.offset, .bytes = p->bytes, .key = p->key, .region = to.region};
	if (!to.region->staged)
		out->base = region_at(to.region, to.offset);
	return out;
}

/* Consumes bytes of one target piece, which may span several local pieces. */
static void request_consume(struct nic_request *r, uint32_t bytes)
{
	r->cut += bytes;
	r->remote_used += bytes;
	if (r->remote_used == r->remote[r->remote_index].bytes) {
		r->remote_used = 0;
		r->remote_index++;
	}
	for (uint32_t part; bytes > 0; bytes -= part) {
		uint32_t rest = r->local[r->local_index].bytes - r->local_used;
		part = bytes < rest ? bytes : rest;
		r->local_used += part;
		if (part < rest)
			continue;
		r->local_used = 0;
		r->local_index++;
	}
}

/* Passes some bytes of a PUT to the owner, or starts the GET of a whole piece. False: the request
 * waits, or has failed. */
static bool staged_piece(struct nic_request *r, struct nic_user *t, const struct nic_piece *m,
			 uint32_t end, int64_t *left)
{
	const struct nic_piece *l = &r->local[r->local_index];
	uint64_t most = min_u64(l->bytes - r->local_used, m->bytes - r->remote_used);
	uint32_t part = (uint32_t)min_u64(end - r->cut, most);
	int status;

	if (r->head.op == DXP_OP_GET) {
		part = m->bytes;
		status = staged_local_get(r, m);
	} else {
		status = staged_local_put(r, m, l->base + r->local_used, &part);
		*left -= status == DXP_OK ? part : 0;
	}
	if (status == DXP_OK)
		request_consume(r, part);
	else if (status != DXP_EAGAIN)
		refuse(r, t, WIRE_NACK_DEVICE);
	return status == DXP_OK;
}

/* Copies up to *left bytes, plus a short rest that would cost more in another poll. Where source
 * and target overlap, their contents become undefined; no other bytes change. */
static uint32_t pieces_copy(struct nic_request *r, struct nic_user *t, int64_t *left)
{
	bool reading = r->head.op == DXP_OP_GET;
	uint32_t copied = 0, before = r->cut, rest = chain_end(r) - before;
	uint32_t end = before + (rest <= *left + NIC_REST_BYTES ? rest : (uint32_t)*left);

	while (r->cut < end) {
		const struct nic_piece *l = &r->local[r->local_index];
		struct nic_piece area;
		const struct nic_piece *m = piece_now(t, &r->remote[r->remote_index], &area);
		if (!m) {
			refuse(r, t, WIRE_NACK_RESOURCE);
			break;
		}
		if (m->region->staged) {
			if (!staged_piece(r, t, m, end, left))
				break;
			continue;
		}
		uint64_t most = min_u64(l->bytes - r->local_used, m->bytes - r->remote_used);
		uint32_t part = (uint32_t)min_u64(end - r->cut, most);
		uint8_t *own = l->base + r->local_used, *other = m->base + r->remote_used;
		if (part >= COPY_LONG_BYTES)
			doorbells_ahead(r->user);
		memmove(reading ? own : other, reading ? other : own, part);
		*left -= part;
		copied += part;
		request_consume(r, part);
	}
	return copied;
}

static void put_advance(struct nic_request *r, struct nic_user *t, int64_t *left)
{
	uint32_t copied = pieces_copy(r, t, left);

	if (copied > 0) {
		t->total_bytes += copied;
		dxp_store_release64(&t->window->total_bytes, t->total_bytes);
	}
	if (r->cut_done || r->cut < r->total)
		return;
	if (r->head.flags & DXP_FLAG_NOTIFY) {
		struct dxp_nic_event event =
			event_of(r->user, t, &r->head, r->total, DXP_EVENT_PUT);
		if (staged_local_waits(r) || !space_acquire(r, t))
			return;
		event_received_write(t, &event, NULL);
	}
	received_count(t, r->head.dst_qp, r->total);
	t->nic->counters.puts_sent++;
	t->nic->counters.puts_received++;
	r->cut_done = true;
}

static void get_advance(struct nic_request *r, struct nic_user *t, int64_t *left)
{
	pieces_copy(r, t, left);
	if (r->cut_done || r->cut < r->total)
		return;
	received_count(t, r->head.dst_qp, r->total);
	t->nic->counters.gets_sent++;
	t->nic->counters.gets_received++;
	r->cut_done = !bounce_stores(r);
}

static void atomic_run(struct nic_request *r, struct nic_user *t)
{
	int status = atomic_execute(r->head.op, r->remote[0].base, r->head.imm, r->head.trailer,
				    &r->old);

	if (status != DXP_OK) {
		request_give_up(r, status);
		return;
	}
	if (r->local_count > 0)
		memcpy(r->local[0].base, &r->old, sizeof(r->old));
	received_count(t, r->head.dst_qp, r->total);
	t->nic->counters.atomics_sent++;
	t->nic->counters.atomics_received++;
	r->cut_done = true;
}

static void cfg_run(struct nic_request *r, struct nic_user *t)
{
	const struct nic_options *o = &t->nic->options;
	uint32_t values[NIC_CFG_WORDS_MAX], count = r->total / 4;
	uint32_t first = (uint32_t)(r->remote[0].offset / 4);
	uint16_t node = r->user->cfg_node ? r->user->cfg_node : own_node(t->nic);
	uint8_t code;

	if (r->head.op == DXP_OP_CFG_WRITE) {
		memcpy(values, r->immediate, r->total);
		code = o->cfg->write(o->cfg_context, node, first, count, values);
	} else {
		code = o->cfg->read(o->cfg_context, node, first, count, values);
		if (code == 0)
			memcpy(r->local[0].base, values, r->total);
	}
	received_count(t, r->head.dst_qp, r->total);
	t->nic->counters.cfg_sent++;
	t->nic->counters.cfg_received++;
	if (code != 0)
		request_give_up(r, rltp_status_of_nack(code));
	r->cut_done = true;
}

/* ---- interface to the rest of the engine ---- */

void local_advance(struct nic_request *r, int64_t *left)
{
	struct nic_function *f = r->function;

	if (*left > 0) {
		r->staged_waits = false;
		if (r->chain && !chain_advance(r, left))
			return;
		struct nic_user *t = target_admit(r);
		if (!t)
			return;
		if (r->head.op != DXP_OP_PUT && staged_local_waits(r))
			return;
		switch (r->head.op) {
		case DXP_OP_NAP: nap_deliver(r, t); break;
		case DXP_OP_PUT: put_advance(r, t, left); break;
		case DXP_OP_GET: get_advance(r, t, left); break;
		case DXP_OP_CFG_READ:
		case DXP_OP_CFG_WRITE: cfg_run(r, t); break;
		default: atomic_run(r, t);
		}
		if (r->space_of || r->staged_waits)
			return;
		*left -= LOCAL_COST_BYTES + (r->head.op == DXP_OP_NAP ? r->total : 0);
	}
	if (r->cut_done)
		local_release(r);
	else
		f->busy |= (uint8_t)(1u << r->head.qp);
}

void local_forget(struct nic *n, const struct nic_user *t)
{
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		struct nic_request *r =
			nic_stream_function(n, i)->queues[i % NIC_QPS_PER_FUNCTION].uncut;
		if (r && (r->admitted || r->space_of) &&
		    r->head.dst_function == t->function->index && user_has_qp(t, r->head.dst_qp))
			request_give_up(r, DXP_EACCESS);
	}
}

/* NULL: the operation needs a request. */
static struct nic_user *target_now(struct nic_user *u, const struct dxp_descriptor *d)
{
	struct nic *n = u->nic;

	if (d->dst_function >= NIC_FUNCTIONS || d->dst_qp >= NIC_QPS_PER_FUNCTION ||
	    u->function->busy || !share_left(u->function))
		return NULL;
	struct nic_function *to = &n->functions[d->dst_function];
	struct nic_user *t = to->user_of[d->dst_qp];
	uint32_t stream = nic_stream_index(d->dst_function, d->dst_qp);
	if (!guess_magic_known(&u->guesses, stream) &&
	    guess_wait(&u->guesses, &n->guesses, n->now_ns) > 0)
		return NULL; /* only a request can wait */
	if (!user_serves(t) || to->qp_magic[d->dst_qp] != d->dst_magic)
		return NULL;
	guess_magic_right(&u->guesses, stream);
	if (u->row > 1)
		events_ahead(u, t);
	return t;
}

static void sent_now(struct nic_user *u, const struct dxp_descriptor *d, uint32_t bytes)
{
	struct dxp_nic_event sent = {
		.context = d->context,
		.bytes = bytes,
		.node = d->dst_node,
		.peer_qp = (uint16_t)(d->dst_function << 8 | d->dst_qp),
		.qp = user_qp(u, d->qp),
		.type = DXP_EVENT_SENT,
	};

	u->function->counters[d->qp].sent_messages++;
	u->function->counters[d->qp].sent_bytes += bytes;
	event_sent_write(u, &sent);
}

bool local_nap(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot)
{
	struct nic *n = u->nic;
	uint32_t bytes = d->inline_bytes;

	if (d->op != DXP_OP_NAP || !(d->flags & DXP_FLAG_INLINE) || d->src_count != 0 ||
	    d->dst_count != 0 || bytes > NIC_NAP_BYTES_MAX)
		return false;
	struct nic_user *t = target_now(u, d);
	if (!t || !space_now(t))
		return false;
	struct dxp_nic_event event = event_of(u, t, d, bytes, DXP_EVENT_NAP);
	uint8_t *to = event_received_buffer(t, &event);
	if (!to)
		return false;
	if (bytes > 0)
		memcpy(to, bytes > DXP_HEAD_BYTES ? slot->body : d->data, bytes);
	event_received_publish(t, &event);
	received_count(t, d->dst_qp, bytes);
	n->counters.naps_sent++;
	n->counters.naps_received++;
	share_spend(u->function, bytes + LOCAL_COST_BYTES);
	sent_now(u, d, bytes);
	return true;
}

static uint8_t *own_address(const struct nic_user *u, const struct dxp_entry *e)
{
	const struct nic_region *r = region_find(u, e->key);

	return r && !r->staged && !r->guarded && e->offset <= r->bytes &&
			       e->bytes <= r->bytes - e->offset
		       ? r->base + e->offset
		       : NULL;
}

/* Only if the function's share covers all bytes. A longer PUT is cut in slices, so that other queue
 * pairs get a share. */
bool local_put(struct nic_user *u, const struct dxp_descriptor *d, const struct dxp_slot *slot)
{
	struct nic *n = u->nic;
	struct nic_region *to;
	struct dxp_entry e[2];

	if (d->op != DXP_OP_PUT || d->flags != 0 || d->src_count != 1 || d->dst_count != 1)
		return false;
	struct nic_user *t = target_now(u, d);
	if (!t)
		return false;
	window_copy(e, slot->body, sizeof(e));
	const uint8_t *from = own_address(u, &e[0]);
	uint32_t bytes = e[0].bytes;
	if (!from || bytes == 0 || bytes != e[1].bytes || bytes > u->function->share ||
	    (!guess_key_known(&u->guesses, e[1].key) &&
	     guess_wait(&u->guesses, &n->guesses, n->now_ns) > 0) ||
	    access_region(t, &u->guesses, e[1].key, NIC_REMOTE_WRITE, e[1].offset, bytes, &to) !=
		    0 ||
	    to->staged)
		return false;
	memmove(region_at(to, e[1].offset), from, bytes);
	t->total_bytes += bytes;
	dxp_store_release64(&t->window->total_bytes, t->total_bytes);
	received_count(t, d->dst_qp, bytes);
	n->counters.puts_sent++;
	n->counters.puts_received++;
	share_spend(u->function, bytes + LOCAL_COST_BYTES);
	sent_now(u, d, bytes);
	return true;
}
