/* SPDX-License-Identifier: BSD-3-Clause */
/* A RESET answers a packet of an unknown session; a BYE closes a session. Both carry a token that
 * only its maker and the peer know. */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "rltp/internal.h"

/* A share gets its first answer of a second in any case. */
static bool reset_allowed(struct rltp_endpoint *e, uint16_t node, uint64_t now_ns)
{
	struct reset_counts *counts = &e->reset_counts;
	uint8_t *of = &counts->of[node % RLTP_RESETS_SHARES];

	if (now_ns - counts->begin_ns >= S_NS)
		*counts = (struct reset_counts){.begin_ns = now_ns};
	if (*of == RLTP_RESETS_SHARE_PER_S || (*of > 0 && counts->all >= RLTP_RESETS_PER_S))
		return false;
	counts->all += *of > 0;
	++*of;
	return true;
}

struct pending_reset *reset_add(struct rltp_endpoint *e, const struct wire_header *h,
				const struct udp_address *from, uint64_t now_ns)
{
	/* A peer outside of the node table may name any source node; s->node belongs to its
	 * address. */
	const struct rltp_session *s = endpoint_peer_at(e, h->src_node, from);

	if (e->reset_count == RESETS_PENDING || !s || !reset_allowed(e, s->node, now_ns))
		return NULL;
	struct pending_reset *p = &e->resets[e->reset_count++];
	*p = (struct pending_reset){.to = *from, .node = h->src_node};
	return p;
}

void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct udp_address *from, uint64_t now_ns)
{
	size_t frame_bytes = (size_t)h->header_bytes + h->payload_bytes;

	/* The RESET is not longer than the frame, against amplification. */
	if (h->dst_session == 0 || frame_bytes < WIRE_COMMON_BYTES + WIRE_RESET_BYTES)
		return;
	struct pending_reset *p = reset_add(e, h, from, now_ns);
	if (p)
		p->session = h->dst_session;
}

static void reset_build(struct rltp_endpoint *e, const struct pending_reset *r, uint64_t now_ns,
			struct datagram *out)
{
	struct wire_header h = {
		.type = WIRE_RESET,
		.header_bytes = WIRE_COMMON_BYTES,
		.src_node = e->options.node,
		.dst_node = r->node,
		.tx_ts = timestamp_of(now_ns),
	};
	struct wire_reset reset = {
		.session = r->session,
		.code = WIRE_NACK_SESSION,
		.token = e->options.token(e->options.token_context, r->session),
	};

	wire_reset_encode(&reset, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&r->to, &h, WIRE_RESET_BYTES, out);
}

size_t resets_send(struct rltp_endpoint *e, struct datagram *out, size_t count, uint64_t now_ns)
{
	size_t n = 0;

	while (n < count && e->reset_count > 0) {
		const struct pending_reset *r = &e->resets[--e->reset_count];
		if (r->code) {
			reject_build(e, r, now_ns, &out[n++]);
			continue;
		}
		reset_build(e, r, now_ns, &out[n++]);
		e->counters.resets_sent++;
	}
	return n;
}

void reset_receive(struct rltp_endpoint *e, const struct wire_header *h,
		   const struct datagram_arrival *a)
{
	struct rltp_session *s = endpoint_peer_at(e, h->src_node, &a->from);
	struct wire_reset reset;

	if (wire_reset_decode(a->data + h->header_bytes, h->payload_bytes, &reset) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	if (!s || s->state != RLTP_OPEN || s->seal || reset.session != s->peer_id ||
	    reset.token != s->peer_token) {
		e->counters.resets_refused++;
		return;
	}
	e->counters.resets_accepted++;
	rltp_session_fail(s, DXP_EPEERRESET);
}

size_t reset_bye_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns)
{
	struct wire_header h = {
		.type = WIRE_BYE,
		.header_bytes = WIRE_COMMON_BYTES,
		.dst_session = s->bye_id,
		.src_node = e->options.node,
		.dst_node = s->peer_node,
		.tx_ts = timestamp_of(now_ns),
	};
	struct wire_bye bye = {.token = s->peer_token, .code = WIRE_NACK_CLOSING};

	if (!s->bye_due || count == 0)
		return 0;
	wire_bye_encode(&bye, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_BYE_BYTES, out);
	s->bye_due = false;
	if (s->seal && protect_seal(s, out, 1) == 0)
		return 0;
	session_keys_drop(s);
	e->counters.byes_sent++;
	return 1;
}

void reset_bye_receive(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		       const uint8_t *body)
{
	struct wire_bye bye;

	if (wire_bye_decode(body, h->payload_bytes, &bye) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	/* This side sent the token in the handshake. A sealed frame needs none. */
	if (s->state != RLTP_OPEN ||
	    (!s->seal &&
	     (bye.token ^ e->options.token(e->options.token_context, s->local_id)) != 0)) {
		e->counters.byes_rejected++;
		return;
	}
	e->counters.byes_accepted++;
	rltp_session_fail(s, DXP_ECLOSED);
}
