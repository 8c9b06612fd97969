/* SPDX-License-Identifier: BSD-3-Clause */
/* A REJECT answers a sealed frame of an unknown session, or a HELLO with other protection than
 * required. Its proof includes the tag of that frame, so it can be made only after the frame, and
 * with the fabric key. */
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "rltp/endpoint_internal.h"

/* Starts with a letter, so no frame and no other use of the key has the same text. */
static const char label[] = "dxp REJECT";

#define LABEL_BYTES (sizeof(label) - 1)

#define TEXT_BYTES (LABEL_BYTES + 12 + WIRE_TAG_BYTES)

static void text_write(const struct wire_header *h, const struct wire_reject *r,
		       const uint8_t tag[WIRE_TAG_BYTES], uint8_t text[TEXT_BYTES])
{
	uint8_t *at = text + LABEL_BYTES;

	memcpy(text, label, LABEL_BYTES);
	put_be16(at, h->src_node);
	put_be16(at + 2, h->dst_node);
	put_be32(at + 4, r->session);
	at[8] = r->code;
	at[9] = r->protect;
	put_be16(at + 10, r->echo);
	memcpy(at + 12, tag, WIRE_TAG_BYTES);
}

/* Adds an answer that is not longer than the frame, against amplification. NULL: none is
 * allowed. */
static struct pending_reset *pending_add(struct rltp_endpoint *e, const struct wire_header *h,
					 const struct udp_address *from, size_t frame_bytes,
					 uint64_t now_ns)
{
	if (frame_bytes < WIRE_COMMON_BYTES + WIRE_REJECT_BYTES)
		return NULL;
	return reset_add(e, h, from, now_ns);
}

void reject_frame(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct datagram_arrival *a, uint64_t now_ns)
{
	struct pending_reset *p = pending_add(e, h, &a->from, a->bytes, now_ns);

	if (!p)
		return;
	p->session = h->dst_session;
	p->code = WIRE_NACK_SESSION;
	p->echo = (uint16_t)get_be32(a->data + WIRE_OFF_CRC);
	memcpy(p->tag, a->data + a->bytes - WIRE_SEAL_BYTES, sizeof(p->tag));
}

void reject_hello(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct wire_hello *hello, uint8_t own, const struct udp_address *from,
		  uint64_t now_ns)
{
	struct pending_reset *p =
		pending_add(e, h, from, (size_t)h->header_bytes + h->payload_bytes, now_ns);

	if (!p)
		return;
	p->session = hello->session;
	p->code = WIRE_NACK_PROTECTION;
	p->protect = own;
	memcpy(p->tag, hello->tag, sizeof(p->tag));
}

void reject_build(struct rltp_endpoint *e, const struct pending_reset *p, uint64_t now_ns,
		  struct datagram *out)
{
	struct wire_header h = {
		.type = WIRE_REJECT,
		.header_bytes = WIRE_COMMON_BYTES,
		.src_node = e->options.node,
		.dst_node = p->node,
		.tx_ts = timestamp_of(now_ns),
	};
	struct wire_reject r = {
		.session = p->session, .code = p->code, .protect = p->protect, .echo = p->echo};
	uint8_t text[TEXT_BYTES];

	text_write(&h, &r, p->tag, text);
	endpoint_authenticate(e, RLTP_KEY_SEND, text, sizeof(text), r.proof);
	wire_reject_encode(&r, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&p->to, &h, WIRE_REJECT_BYTES, out);
	e->counters.rejects_sent++;
}

/* Returns the tag that the REJECT must quote; NULL: none. */
static const uint8_t *answered_tag(const struct rltp_session *s, const struct wire_reject *r)
{
	if (r->code == WIRE_NACK_PROTECTION)
		return s->state == RLTP_HANDSHAKE && r->session == s->local_id ? s->io->hello_tag
									       : NULL;
	if (s->state != RLTP_OPEN || !s->seal || r->session != s->peer_id)
		return NULL;
	return s->shared->seal->sent_tag(s->seal, r->echo);
}

void reject_receive(struct rltp_endpoint *e, const struct wire_header *h,
		    const struct datagram_arrival *a)
{
	struct rltp_session *s = endpoint_peer_at(e, h->src_node, &a->from);
	uint8_t text[TEXT_BYTES];
	struct wire_reject r;
	enum rltp_key key;

	if (wire_reject_decode(a->data + h->header_bytes, h->payload_bytes, &r) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	const uint8_t *tag = s ? answered_tag(s, &r) : NULL;
	if (tag)
		text_write(h, &r, tag, text);
	if (!tag || !endpoint_authentic(e, text, sizeof(text), r.proof, &key)) {
		e->counters.rejects_refused++;
		return;
	}
	e->counters.rejects_accepted++;
	if (r.code == WIRE_NACK_SESSION) {
		rltp_session_fail(s, DXP_EPEERRESET);
		return;
	}
	uint8_t own = handshake_protection(e, s);
	e->mismatch = (struct rltp_mismatch){s->node, own, r.protect};
	e->mismatched = true;
	rltp_session_fail(s, DXP_EPROTECT);
}
