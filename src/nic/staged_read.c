/* SPDX-License-Identifier: BSD-3-Clause */
/* GETs of staged memory. The owner gets them oldest first, when it has space, and returns pieces as
 * they leave the device, one message each. A GET counts toward the peer's limit of answers until
 * its last piece has arrived. */
#include "nic/staged.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "wire/ids.h"

struct nic_staged_read *staged_read_create(void)
{
	return calloc(1, sizeof(struct nic_staged_read));
}

void staged_read_enter(struct nic *n, struct nic_staged_read *r)
{
	r->region->uses++;
	r->left = r->bytes;
	r->answered_end = &r->answered;
	r->previous = n->staged_reads_last;
	*(r->previous ? &r->previous->next : &n->staged_reads) = r;
	n->staged_reads_last = r;
}

void staged_read_leave(struct nic *n, struct nic_staged_read *r)
{
	assert(r->out == 0);
	*(r->previous ? &r->previous->next : &n->staged_reads) = r->next;
	*(r->next ? &r->next->previous : &n->staged_reads_last) = r->previous;
	r->region->uses--;
	free(r);
}

void staged_read_cancel(struct nic_staged_read *r)
{
	bool open = r->state == READ_OPEN;

	r->state = READ_OVER;
	if (open)
		r->region->staged->read_cancel(r->region->staged_context, r);
}

int staged_read_request(struct nic_staged_read *r)
{
	/* Access may have changed while the GET waited. */
	if (region_reach(r->region, r->offset, r->bytes) != 0)
		return DXP_EACCESS;
	int status =
		r->region->staged->read_begin(r->region->staged_context, r, r->offset, r->bytes);
	if (status == DXP_OK)
		r->state = READ_OPEN;
	return status;
}

void staged_look_again(struct nic *n)
{
	n->look_ns = min_u64(n->look_ns, n->now_ns + NIC_STAGED_RETRY_US * US_NS);
}

static void peer_read_leave(struct nic *n, struct nic_staged_read *r)
{
	if (r->spare)
		pool_message_put(n, r->spare);
	r->peer->work->answers--;
	rltp_session_released(r->peer->session);
	staged_read_leave(n, r);
}

static void peer_read_over(struct nic *n, struct nic_staged_read *r)
{
	if (r->state == READ_OVER && r->out == 0)
		peer_read_leave(n, r);
}

static void answer_fill(struct nic_staged_read *r, struct nic_message *m, uint8_t flow)
{
	m->rltp.type = WIRE_GET_RSP;
	m->rltp.flow = flow;
	m->peer = r->peer;
	m->read = r;
	m->fields.key = r->get.reply_key;
	m->fields.msg_id = r->get.reply_msg_id;
	r->out++;
}

/* Outstanding pieces still return to their owner. */
static void peer_read_refuse(struct nic_staged_read *r, int status)
{
	struct nic_message *m = r->spare;

	r->state = READ_OVER;
	r->spare = NULL;
	answer_fill(r, m, RLTP_FLOW_CONTROL);
	send_message_post(m);
	send_message_withdraw(m, status == DXP_ECLOSED || status == DXP_EACCESS ? status
										: DXP_EDEVICE);
}

static void peer_read_request(struct nic *n, struct nic_staged_read *r)
{
	int status = staged_read_request(r);

	if (status == DXP_EAGAIN)
		staged_look_again(n);
	else if (status != DXP_OK)
		peer_read_refuse(r, status);
}

/* The session cannot become idle until the device has answered. */
void staged_get_execute(struct nic_peer *p, uint32_t index, struct rx_record *record)
{
	struct nic_staged_read *r = record->read;

	r->peer = p;
	r->stream = index;
	r->get = record->get;
	r->region = record->region;
	r->offset = record->addr;
	r->bytes = (uint32_t)record->get.bytes;
	r->spare = record->answer;
	record->read = NULL;
	record->answer = NULL;
	rltp_session_held(p->session);
	staged_read_enter(peer_nic(p), r);
	peer_read_request(peer_nic(p), r);
}

static int peer_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
		       uint32_t bytes, void *piece)
{
	struct nic_message *m = pool_message_get(n);

	if (!m)
		return DXP_ENOMEM;
	answer_fill(r, m, read_flow(r->stream));
	m->fields.addr = r->get.reply_addr + at;
	m->data = data;
	m->rltp.bytes = bytes;
	m->piece = piece;
	m->handed = true;
	send_message_post(m);
	return DXP_OK;
}

void staged_answer_done(struct nic *n, struct nic_message *m, int status)
{
	struct nic_staged_read *r = m->read;

	if (m->handed)
		r->region->staged->read_sent(r->region->staged_context, m->piece, status);
	r->out--;
	peer_read_over(n, r);
}

/* RLTP has already returned all messages of the session. */
void staged_reads_fail(struct nic_peer *p)
{
	struct nic *n = peer_nic(p);

	for (struct nic_staged_read *r = n->staged_reads, *next; r; r = next) {
		next = r->next;
		if (r->peer != p)
			continue;
		staged_read_cancel(r);
		peer_read_leave(n, r);
	}
}

bool staged_answers(const struct nic_message *m, const struct nic_user *u)
{
	return m->read && m->read->region->user == u->index;
}

void staged_reads_end(struct nic *n, const struct nic_user *u)
{
	for (struct nic_staged_read *r = n->staged_reads; r; r = r->next) {
		if (!r->peer || r->region->user != u->index || r->state == READ_OVER)
			continue;
		staged_read_cancel(r);
		peer_read_refuse(r, DXP_ECLOSED);
	}
}

/* Oldest first. An owner without space is not called again in the same poll. */
void staged_poll(struct nic *n)
{
	const void *full = NULL;

	for (struct nic_staged_read *r = n->staged_reads, *next; r; r = next) {
		next = r->next;
		if (r->state != READ_WAITS)
			continue;
		if (r->region->staged_context != full)
			peer_read_request(n, r);
		else
			staged_look_again(n);
		if (r->state == READ_WAITS)
			full = r->region->staged_context;
	}
}

uint16_t nic_staged_node(const struct nic_staged_read *r)
{
	return r->peer ? r->peer->node : WIRE_NODE_NONE;
}

int nic_staged_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
		      uint32_t bytes, void *piece, uint64_t now_ns)
{
	assert(r->state == READ_OPEN && bytes > 0 && bytes <= r->left && at <= r->bytes - bytes);
	n->now_ns = now_ns;
	int status = r->request ? staged_local_answer(n, r, at, data, bytes, piece)
				: peer_answer(n, r, at, data, bytes, piece);
	if (status != DXP_OK)
		return status;
	r->left -= bytes;
	if (r->left == 0)
		r->state = READ_OVER;
	return DXP_OK;
}

void nic_staged_refuse(struct nic *n, struct nic_staged_read *r, int status, uint64_t now_ns)
{
	assert(r->state == READ_OPEN && status != DXP_OK);
	n->now_ns = now_ns;
	if (r->request)
		staged_local_refuse(n, r, status);
	else
		peer_read_refuse(r, status);
}
