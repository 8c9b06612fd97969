/* SPDX-License-Identifier: BSD-3-Clause */
/* GET, ATOMIC and CFG. The requester keeps an entry until the answer is complete; the responder
 * answers by a message of its own (C-19, C-21, C-32). Outstanding requests are bounded, so the
 * responder always has space and no deadlock is possible (C-22). */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/payload.h"
#include "nic/atomic.h"
#include "nic/internal.h"

uint32_t reads_max(const struct nic *n)
{
	return n->options.reads_max;
}

struct nic_read *read_begin(struct nic_peer *p)
{
	struct nic_work *w = stream_work_get(p);

	if (w && !w->reads)
		w->reads = calloc(NIC_READS_MAX, sizeof(*w->reads));
	if (!w || !w->reads) {
		nic_memory_short(peer_nic(p));
		return NULL;
	}
	if (w->read_count >= reads_max(peer_nic(p)))
		return NULL;
	for (uint32_t i = 0; i < NIC_READS_MAX; i++) {
		uint32_t index = (w->read_id + i) % NIC_READS_MAX;
		struct nic_read *r = &w->reads[index];
		if (r->request)
			continue;
		/* The low bits of an id are its entry's index. 0 means no read. */
		w->read_id += NIC_READS_MAX;
		*r = (struct nic_read){.id = (w->read_id - w->read_id % NIC_READS_MAX) | index};
		if (r->id == 0)
			r->id = NIC_READS_MAX * 2 | index;
		return r;
	}
	return NULL;
}

static void read_finish(struct nic_peer *p, struct nic_read *r, int status)
{
	struct nic_request *request = r->request;

	*r = (struct nic_read){0};
	p->work->read_count--;
	rltp_session_answered(p->session);
	request_finished(request, status);
}

static struct nic_read *read_find(struct nic_peer *p, uint32_t id)
{
	struct nic_read *reads = p->work ? p->work->reads : NULL;
	struct nic_read *r = reads ? &reads[id % NIC_READS_MAX] : NULL;

	return r && r->request && r->id == id ? r : NULL;
}

void read_cancel(struct nic_peer *p, uint32_t id, int status)
{
	struct nic_read *r = read_find(p, id);

	if (r)
		read_finish(p, r, status);
}

void reads_fail(struct nic_peer *p, int status)
{
	for (uint32_t i = 0; p->work && p->work->reads && i < NIC_READS_MAX; i++)
		if (p->work->reads[i].request)
			read_finish(p, &p->work->reads[i], status);
}

void reads_forget(struct nic_peer *p, const struct nic_user *u)
{
	for (uint32_t i = 0; p->work && p->work->reads && i < NIC_READS_MAX; i++) {
		struct nic_read *r = &p->work->reads[i];
		if (!r->request || r->request->user != u)
			continue;
		*r = (struct nic_read){0};
		p->work->read_count--;
		rltp_session_answered(p->session);
	}
}

static void registers_store(uint8_t *to, const uint8_t *payload, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i += 4) {
		uint32_t value = get_be32(payload + i);
		memcpy(to + i, &value, sizeof(value));
	}
}

/* Stores the registers' values only if the whole answer is valid. */
static int registers_answer(struct nic_read *r, const struct wire_header *h, const uint8_t *payload)
{
	if (h->key != 0)
		return rltp_status_of_nack(h->key);
	if (h->payload_bytes != r->bytes)
		return DXP_EMALFORMED;
	if (r->to)
		registers_store(r->to, payload, h->payload_bytes);
	return DXP_OK;
}

/* Stores the previous value in the completion, and in the user's memory if the request names
 * some. */
static int old_store(struct nic_read *r, const struct wire_header *h, const uint8_t *payload)
{
	if (h->key != 0)
		return rltp_status_of_nack(h->key);
	if (h->payload_bytes != WIRE_ATOMIC_OLD)
		return DXP_EMALFORMED;
	r->request->old = get_be64(payload);
	if (r->to)
		memcpy(r->to, &r->request->old, sizeof(r->request->old));
	return DXP_OK;
}

/* The peer cannot predict the mark of an offset. */
static uint64_t mark(const struct nic *n, uint64_t at)
{
	uint64_t x = at + n->mark_seed;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Checks that each requested byte arrived exactly once. Missing bytes would expose earlier contents
 * of memory, perhaps of another tenant, because a bridge shares its buffers; a byte count misses
 * them if others arrived twice. Each part adds the mark of its end and subtracts that of its start.
 * The inner marks cancel out only if the parts cover 0 to the end. */
static int whole(const struct nic *n, const struct nic_read *r)
{
	return r->seam == mark(n, r->bytes) - mark(n, 0) ? DXP_OK : DXP_EMALFORMED;
}

/* An invalid answer fails the request, because no other follows. */
void read_answer_receive(struct nic_peer *p, const struct wire_header *h, const uint8_t *payload)
{
	struct nic_read *r = read_find(p, h->msg_id);
	const struct nic *n = peer_nic(p);

	if (!r || r->type != h->type)
		return; /* the request was given up */
	if (h->type != WIRE_GET_RSP) {
		read_finish(p, r,
			    h->type == WIRE_ATOMIC_RSP ? old_store(r, h, payload)
						       : registers_answer(r, h, payload));
		return;
	}
	if (h->addr > r->bytes || h->payload_bytes > r->bytes - h->addr ||
	    h->payload_bytes > r->left) {
		read_finish(p, r, DXP_EMALFORMED);
		return;
	}
	payload_place(r->to + h->addr, payload, h->payload_bytes,
		      r->bytes - h->addr - h->payload_bytes);
	r->left -= h->payload_bytes;
	r->seam += mark(n, h->addr + h->payload_bytes) - mark(n, h->addr);
	if (r->left == 0)
		read_finish(p, r, whole(n, r));
}

static struct nic_message *answer_apply(struct nic_peer *p, struct rx_record *record, uint8_t type,
					uint8_t flow)
{
	struct nic_message *m = record->answer;

	record->answer = NULL;
	m->rltp.type = type;
	m->rltp.flow = flow;
	m->peer = p;
	return m;
}

/* The flow of GET, ATOMIC and CFG requests of a queue pair, and of their answers with data. Its
 * channel is that of the function, so weight and limit apply. */
uint8_t read_flow(uint32_t stream)
{
	return RLTP_FLOW(stream / NIC_QPS_PER_FUNCTION,
			 NIC_QPS_PER_FUNCTION + stream % NIC_QPS_PER_FUNCTION);
}

/* Rejects the request if access has changed since it arrived. */
static bool still_reached(struct nic_peer *p, uint32_t index, struct rx_record *record,
			  uint64_t bytes)
{
	struct nic *n = peer_nic(p);

	if (region_reach(record->region, record->addr, bytes) == 0)
		return true;
	access_refused(n, nic_stream_user(n, index), WIRE_NACK_RIGHTS);
	read_answer_refuse(p, record, DXP_EACCESS);
	return false;
}

void read_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record)
{
	if (!still_reached(p, index, record, record->get.bytes))
		return;
	if (record->read) {
		staged_get_execute(p, index, record);
		return;
	}
	struct nic_message *m = answer_apply(p, record, WIRE_GET_RSP, read_flow(index));

	m->region = record->region;
	m->region->uses++;
	m->data = region_at(record->region, record->addr);
	m->rltp.bytes = (uint32_t)record->get.bytes;
	m->fields.addr = record->get.reply_addr;
	m->fields.key = record->get.reply_key;
	m->fields.msg_id = record->get.reply_msg_id;
	send_message_post(m);
}

void read_answer_refuse(struct nic_peer *p, struct rx_record *record, int status)
{
	uint8_t type = record->type == WIRE_GET_REQ  ? WIRE_GET_RSP
		       : record->type == WIRE_ATOMIC ? WIRE_ATOMIC_RSP
						     : WIRE_CFG_RD_RSP;
	struct nic_message *m = answer_apply(p, record, type, RLTP_FLOW_CONTROL);

	m->fields.msg_id = type == WIRE_GET_RSP      ? record->get.reply_msg_id
			   : type == WIRE_ATOMIC_RSP ? record->atomic.reply_msg_id
						     : record->key;
	send_message_post(m);
	send_message_withdraw(m, status);
}

void atomic_answer(struct nic_peer *p, uint32_t index, struct rx_record *record)
{
	if (!still_reached(p, index, record, sizeof(uint64_t)))
		return;
	const struct wire_atomic *a = &record->atomic;
	struct nic_message *m = answer_apply(p, record, WIRE_ATOMIC_RSP, RLTP_FLOW_CONTROL);
	uint64_t old = 0;
	/* Was checked; fails only if other threads keep changing the bytes. */
	int status = atomic_execute(a->op, region_at(record->region, record->addr), a->operand,
				    a->swap, &old);

	m->fields.msg_id = a->reply_msg_id;
	m->fields.addr = record->addr;
	m->fields.key = status == DXP_OK ? 0 : WIRE_NACK_RESOURCE;
	m->rltp.bytes = status == DXP_OK ? WIRE_ATOMIC_OLD : 0;
	put_be64(m->small, old);
	m->data = m->small;
	send_message_post(m);
}

static uint8_t registers_read(struct nic *n, uint16_t node, const struct rx_record *record,
			      struct nic_message *m)
{
	uint32_t values[NIC_CFG_WORDS_MAX];
	uint32_t count = get_be32(record->held);
	uint8_t code = n->options.cfg->read(n->options.cfg_context, node,
					    (uint32_t)(record->addr / 4), count, values);

	if (code != 0)
		return code;
	for (uint32_t i = 0; i < count; i++)
		put_be32(m->body + 4 * i, values[i]);
	m->rltp.bytes = 4 * count;
	return 0;
}

static uint8_t registers_write(struct nic *n, uint16_t node, const struct rx_record *record)
{
	uint32_t values[NIC_CFG_WORDS_MAX];
	uint32_t count = record->bytes / 4;

	for (uint32_t i = 0; i < count; i++)
		values[i] = get_be32(record->held + 4 * i);
	return n->options.cfg->write(n->options.cfg_context, node, (uint32_t)(record->addr / 4),
				     count, values);
}

void read_cfg_execute(struct nic_peer *p, uint32_t index, struct rx_record *record)
{
	uint16_t node = p->node;
	bool writing = record->type == WIRE_CFG_WR;
	struct nic_message *m = answer_apply(p, record, writing ? WIRE_CFG_WR_RSP : WIRE_CFG_RD_RSP,
					     read_flow(index));

	m->fields.msg_id = record->key;
	m->fields.addr = record->addr;
	m->fields.key = writing ? registers_write(peer_nic(p), node, record)
				: registers_read(peer_nic(p), node, record, m);
	send_message_post(m);
}
