/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks of RLTP: bytes of a packet at each transmission, and completion of a message. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"

void send_message_post(struct nic_message *m)
{
	/* Cannot fail: the session was made active before. */
	int status = rltp_endpoint_post(peer_nic(m->peer)->endpoint, m->peer->session, &m->rltp,
					peer_nic(m->peer)->now_ns);
	assert(status == DXP_OK);
}

void send_message_unsent(struct nic_message *m, uint32_t bytes)
{
	struct nic_function *f = m->request->function;

	f->unsent = f->unsent - m->unsent + bytes;
	m->unsent = bytes;
}

static void pieces_slice(const struct nic_message *m, uint32_t offset, uint32_t bytes,
			 struct rltp_packet *out)
{
	const struct nic_piece *piece = m->pieces;
	uint64_t skip = (uint64_t)m->piece_offset + offset;

	for (; bytes > 0 && skip >= piece->bytes; piece++)
		skip -= piece->bytes;
	for (; bytes > 0; piece++) {
		uint64_t left = piece->bytes - skip;
		uint32_t part = bytes < left ? bytes : (uint32_t)left;
		assert(out->slice_count < DATAGRAM_SLICES_MAX);
		out->slices[out->slice_count++] = (struct datagram_slice){piece->base + skip, part};
		bytes -= part;
		skip = 0;
	}
}

static uint32_t answer_key(int status)
{
	switch (status) {
	case DXP_ECLOSED: return WIRE_NACK_CLOSING;
	case DXP_EDEVICE: return WIRE_NACK_DEVICE;
	case DXP_EACCESS: return WIRE_NACK_RIGHTS;
	default: return 0;
	}
}

int send_answer_status(uint32_t key)
{
	switch (key) {
	case WIRE_NACK_CLOSING: return DXP_ECLOSED;
	case WIRE_NACK_DEVICE: return DXP_EDEVICE;
	case WIRE_NACK_RIGHTS: return DXP_EACCESS;
	default: return DXP_EPATH;
	}
}

void send_message_fill(void *user, struct rltp_message *rltp, uint32_t offset, uint32_t bytes,
		       struct rltp_packet *out)
{
	struct nic_message *m = CONTAINER_OF(rltp, struct nic_message, rltp);
	struct wire_header *h = &out->header;

	if (m->unsent > rltp->bytes - offset - bytes)
		send_message_unsent(m, rltp->bytes - offset - bytes);

	h->dst_qp = m->fields.dst_qp;
	h->dst_function = m->fields.dst_function;
	h->qp_magic = m->fields.qp_magic;
	h->msg_id = m->fields.msg_id;
	h->addr = m->fields.addr + offset;
	h->key = m->fields.key;
	if (rltp->status != DXP_OK && !m->stream)
		h->key = answer_key(rltp->status);
	h->imm = m->fields.imm;
	h->trailer = m->fields.trailer;
	out->slice_count = 0;
	if (bytes == 0)
		return;
	if (m->pieces) {
		pieces_slice(m, offset, bytes, out);
	} else {
		out->slices[0] = (struct datagram_slice){m->data + offset, bytes};
		out->slice_count = 1;
	}
}

void send_message_done(void *user, struct rltp_session *s, struct rltp_message *rltp, int status)
{
	struct nic_message *m = CONTAINER_OF(rltp, struct nic_message, rltp);
	struct nic_request *r = m->request;
	struct nic *n = user;
	bool ordered = m->rltp.flags & WIRE_FLAG_SOL && status == DXP_OK;

	/* A closed session delivers no more; session_reset() completes the requests whose messages
	 * had arrived. */
	if (m->stream && rltp_session_is_open(s))
		stream_tx_done(m->stream, m->fields.msg_id, ordered ? r : NULL);
	if (m->unsent)
		send_message_unsent(m, 0);
	if (m->region)
		m->region->uses--;
	if (m->read)
		staged_answer_done(n, m, status);
	else if (!m->stream)
		m->peer->work->answers--;
	else if (status != DXP_OK && m->read_id)
		read_cancel(m->peer, m->read_id, status);
	pool_message_put(n, m);
	if (r && !ordered)
		request_finished(r, status);
}

void send_message_withdraw(struct nic_message *m, int status)
{
	if (m->unsent)
		send_message_unsent(m, 0);
	m->request = NULL;
	m->read_id = 0;
	m->pieces = NULL;
	m->data = NULL;
	if (m->region)
		m->region->uses--;
	m->region = NULL;
	rltp_endpoint_cancel(peer_nic(m->peer)->endpoint, m->peer->session, &m->rltp, status);
}
