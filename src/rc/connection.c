/* SPDX-License-Identifier: BSD-3-Clause */
#include "rc/connection.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rc/limits.h"

enum state {
	STATE_REQUESTING, /* the active side sends REQs until the REP arrives */
	STATE_REPLIED,    /* the passive side has sent its REP */
	STATE_LIVE,
	STATE_FAILED
};

struct rc_connection {
	enum state state;
	struct rc_options o;
	struct rc_qp *qp;
	uint64_t transaction;
	uint32_t peer_id;
	struct rc_cm_message own; /* this side's REQ or REP, kept to send it again */
	bool mad_due;
	uint8_t mad[RC_CM_MAD_BYTES]; /* MAD to send: the newest of REQ, REP and RTU */
	uint64_t cm_ns, gap_ns;       /* active side: time of the next REQ, and the gap after it */
	unsigned tries;
};

/* Returns the smallest path MTU for the message: 1 is 256 bytes, each further code doubles it. */
static uint8_t mtu_of(size_t message_bytes)
{
	uint8_t code = 1;

	while (code < 5 && 128u << code < message_bytes)
		code++;
	return code;
}

static int connection_new(const struct rc_options *options, struct rc_connection **out)
{
	struct rc_connection *c = calloc(1, sizeof(*c));
	const struct rc_qp_options o = {.number = options->number,
					.send_psn = options->first_psn,
					.window = options->window,
					.message_bytes = options->message_bytes,
					.timeout = RC_TIMEOUT_CODE,
					.retry_count = RC_RETRY_COUNT,
					.rnr_retry = RC_RNR_RETRY,
					.rnr_code = RC_RNR_CODE};

	if (!c)
		return DXP_ENOMEM;
	c->o = *options;
	if (rc_qp_create(&o, &c->qp) != DXP_OK) {
		free(c);
		return DXP_ENOMEM;
	}
	c->own = (struct rc_cm_message){.local_id = options->id,
					.qp = options->number,
					.psn = options->first_psn & ROCE_PSN_MASK,
					.rnr_retry = RC_RNR_RETRY,
					.retry_count = RC_RETRY_COUNT,
					.timeout = RC_TIMEOUT_CODE};
	memcpy(c->own.from_gid, options->ends.from.ip, 16);
	memcpy(c->own.to_gid, options->ends.to.ip, 16);
	*out = c;
	return DXP_OK;
}

static void mad_set(struct rc_connection *c, const struct rc_cm_message *m)
{
	rc_cm_encode(m, c->mad);
	c->mad_due = true;
}

int rc_connect(const struct rc_options *options, uint64_t now_ns, struct rc_connection **out)
{
	struct rc_connection *c;
	int status = connection_new(options, &c);

	if (status != DXP_OK)
		return status;
	c->state = STATE_REQUESTING;
	c->transaction = (uint64_t)options->id << 32 | options->first_psn;
	c->own.kind = RC_CM_REQ;
	c->own.transaction = c->transaction;
	c->own.service = RC_CM_SERVICE;
	c->own.mtu = mtu_of(options->message_bytes);
	memcpy(c->own.private_data, options->private_data, RC_CM_PRIVATE_BYTES);
	c->cm_ns = now_ns;
	c->gap_ns = RC_CM_GAP_NS;
	*out = c;
	return DXP_OK;
}

int rc_accept(const struct rc_options *options, const struct rc_cm_message *req,
	      struct rc_connection **out)
{
	struct rc_connection *c;

	if (128u << req->mtu < options->message_bytes)
		return DXP_EUNSUPPORTED;
	int status = connection_new(options, &c);
	if (status != DXP_OK)
		return status;
	c->state = STATE_REPLIED;
	c->transaction = req->transaction;
	c->peer_id = req->local_id;
	c->own.kind = RC_CM_REP;
	c->own.transaction = req->transaction;
	c->own.remote_id = req->local_id;
	rc_qp_connect(c->qp, req->qp, req->psn);
	mad_set(c, &c->own);
	*out = c;
	return DXP_OK;
}

void rc_close(struct rc_connection *c)
{
	if (!c)
		return;
	rc_qp_destroy(c->qp);
	free(c);
}

/* ---- input ---- */

bool rc_packet(const uint8_t *data, size_t bytes)
{
	struct roce_header h;
	size_t payload_bytes;

	return roce_header_decode(data, bytes, &h, &payload_bytes) == DXP_OK &&
	       (h.opcode != ROCE_UD_SEND_ONLY || h.dest_qp == RC_CM_QP);
}

int rc_cm_packet_decode(const uint8_t *data, size_t bytes, struct rc_cm_message *out)
{
	struct roce_header h;
	size_t payload_bytes;

	if (roce_header_decode(data, bytes, &h, &payload_bytes) != DXP_OK ||
	    h.opcode != ROCE_UD_SEND_ONLY || h.dest_qp != RC_CM_QP)
		return DXP_ENOENT;
	if (h.qkey != RC_CM_QKEY)
		return DXP_EMALFORMED;
	return rc_cm_decode(data + roce_header_bytes(h.opcode), payload_bytes, out);
}

bool rc_owns(const struct rc_connection *c, const uint8_t *data, size_t bytes)
{
	struct roce_header h;
	struct rc_cm_message m;
	size_t payload_bytes;

	if (rc_cm_packet_decode(data, bytes, &m) == DXP_OK)
		return m.kind != RC_CM_REQ && m.remote_id == c->o.id;
	return roce_header_decode(data, bytes, &h, &payload_bytes) == DXP_OK &&
	       h.opcode != ROCE_UD_SEND_ONLY && h.dest_qp == c->o.number;
}

bool rc_request_again(struct rc_connection *c, const struct rc_cm_message *req)
{
	if (c->transaction != req->transaction || c->peer_id != req->local_id)
		return false;
	mad_set(c, &c->own);
	return true;
}

static void ready_send(struct rc_connection *c)
{
	const struct rc_cm_message m = {.kind = RC_CM_RTU,
					.transaction = c->transaction,
					.local_id = c->o.id,
					.remote_id = c->peer_id};

	mad_set(c, &m);
}

static void reply_receive(struct rc_connection *c, const struct rc_cm_message *m)
{
	if (c->own.kind != RC_CM_REQ || m->transaction != c->transaction)
		return;
	if (c->state == STATE_REQUESTING) {
		c->state = STATE_LIVE;
		c->peer_id = m->local_id;
		rc_qp_connect(c->qp, m->qp, m->psn);
	}
	if (c->state == STATE_LIVE)
		/* the RTU was lost, so it must be sent again */
		ready_send(c);
}

static void cm_receive(struct rc_connection *c, const struct rc_cm_message *m)
{
	switch (m->kind) {
	case RC_CM_REP: reply_receive(c, m); break;
	case RC_CM_RTU:
		if (c->state == STATE_REPLIED && m->transaction == c->transaction)
			c->state = STATE_LIVE;
		break;
	case RC_CM_REJ:
		if (c->state == STATE_REQUESTING && m->transaction == c->transaction)
			c->state = STATE_FAILED;
		break;
	default: break;
	}
}

const uint8_t *rc_receive(struct rc_connection *c, const uint8_t *data, size_t bytes, bool ready,
			  uint64_t now_ns, size_t *message_bytes)
{
	struct roce_header h;
	struct rc_cm_message m;

	if (rc_cm_packet_decode(data, bytes, &m) == DXP_OK) {
		cm_receive(c, &m);
		return NULL;
	}
	if (roce_header_decode(data, bytes, &h, message_bytes) != DXP_OK ||
	    c->state == STATE_FAILED)
		return NULL;
	if (c->state == STATE_REPLIED && h.opcode == ROCE_RC_SEND_ONLY)
		/* the peer is ready, even if its RTU is lost or late (InfiniBand specification,
		 * 12.9.7.2) */
		c->state = STATE_LIVE;
	if (!rc_qp_receive(c->qp, &h, *message_bytes, ready, now_ns))
		return NULL;
	return data + roce_header_bytes(h.opcode);
}

/* ---- output ---- */

int rc_post(struct rc_connection *c, const void *front, size_t front_bytes, const void *rest,
	    size_t rest_bytes)
{
	if (c->state == STATE_FAILED)
		return DXP_EPEERLOST;
	return rc_qp_post(c->qp, front, front_bytes, rest, rest_bytes);
}

void rc_mad_add(struct inc_batch *out, const struct roce_ends *ends,
		const uint8_t mad[RC_CM_MAD_BYTES])
{
	const struct roce_header h = {.opcode = ROCE_UD_SEND_ONLY,
				      .dest_qp = RC_CM_QP,
				      .qkey = RC_CM_QKEY,
				      .source_qp = RC_CM_QP};
	size_t i = out->count++;

	roce_datagram_encode(&h, ends, mad, RC_CM_MAD_BYTES, &out->datagrams[i], out->trailers[i]);
	out->from_ports[i] = ends->from.port;
}

static void request_check(struct rc_connection *c, uint64_t now_ns)
{
	if (c->state != STATE_REQUESTING || now_ns < c->cm_ns)
		return;
	if (c->tries++ == RC_CM_TRIES) {
		c->state = STATE_FAILED;
		return;
	}
	mad_set(c, &c->own);
	c->cm_ns = now_ns + c->gap_ns;
	c->gap_ns *= 2;
}

static bool qp_sends(const struct rc_connection *c)
{
	return c->state == STATE_LIVE || c->state == STATE_REPLIED;
}

bool rc_send(struct rc_connection *c, struct inc_batch *out, uint64_t now_ns)
{
	struct roce_header h;
	const uint8_t *payload;
	size_t bytes;

	request_check(c, now_ns);
	if (c->mad_due && out->count < out->space) {
		rc_mad_add(out, &c->o.ends, c->mad);
		c->mad_due = false;
	}
	while (qp_sends(c) && out->count < out->space &&
	       rc_qp_send(c->qp, &h, &payload, &bytes, now_ns)) {
		size_t i = out->count++;

		roce_datagram_encode(&h, &c->o.ends, payload, bytes, &out->datagrams[i],
				     out->trailers[i]);
		out->from_ports[i] = c->o.ends.from.port;
	}
	if (rc_qp_failed(c->qp))
		c->state = STATE_FAILED;
	return rc_deadline(c) <= now_ns;
}

uint64_t rc_deadline(const struct rc_connection *c)
{
	if (c->mad_due)
		return 0;
	if (c->state == STATE_REQUESTING)
		return c->cm_ns;
	return qp_sends(c) ? rc_qp_deadline(c->qp) : UINT64_MAX;
}

bool rc_failed(const struct rc_connection *c)
{
	return c->state == STATE_FAILED;
}

struct rc_qp_counters rc_counters(const struct rc_connection *c)
{
	return rc_qp_counters(c->qp);
}
