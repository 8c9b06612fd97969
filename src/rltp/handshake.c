/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens sessions and removes remains of older ones.
 *
 * HELLO carries the session id, epoch and first packet number of its side; HELLO_ACK adds those of
 * the answering side. A side may send data when it has the peer's numbers. Without protection,
 * sides that start at once accept each other's HELLO as the answer.
 *
 * (incarnation, epoch) only grows, which detects late copies. A tag proves that the sender has the
 * fabric key. Its check is the most expensive, so it comes last, limited by cookie.c.
 *
 * With protection, the packets also agree on keys (protect.h), and only one of two simultaneous
 * HELLOs counts. The answering side sends no data before a sealed frame arrives, because the HELLO
 * may be a replay. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "rltp/internal.h"
#include "wire/ids.h"

/* New numbers are required whenever the peer may hold state of an earlier session. */
static void numbers_draw(struct rltp_endpoint *e, struct rltp_session *s)
{
	uint32_t random[2];

	session_keys_drop(s);
	e->options.entropy(e->options.entropy_context, random, sizeof(random));
	s->initial_psn = random[0];
	s->local_id = (random[1] & 0xffff0000u) | s->node;
	s->epoch = ++e->epoch;
}

void handshake_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	numbers_draw(e, s);
	if (s->outside)
		/* unknown: another node may have this address now */
		s->peer_node = WIRE_NODE_NONE;
	s->state = RLTP_HANDSHAKE;
	s->io->hello_interval_ns = RLTP_HELLO_FIRST_NS;
	s->io->cookie = 0;
	s->io->cookie_hellos = 0;
	s->io->hello_deadline_ns = now_ns;
	s->received_ns = now_ns;
}

static uint16_t tag_offset(const uint8_t *frame)
{
	return frame[WIRE_OFF_HELLO_PROTECT] == WIRE_PROTECT_NONE ? WIRE_OFF_HELLO_TAG
								  : WIRE_OFF_HELLO_SEALED_TAG;
}

/* The tag covers the frame before it, except fields that change in transit or with each
 * transmission. False: the key does not exist any more. */
static bool tag_write(const struct rltp_endpoint *e, enum rltp_key key, uint8_t *frame)
{
	uint8_t copy[WIRE_OFF_HELLO_SEALED_TAG];
	uint16_t bytes = tag_offset(frame);

	wire_hello_constant(frame, bytes, copy);
	return endpoint_authenticate(e, key, copy, bytes, frame + bytes);
}

static bool tag_good(const struct rltp_endpoint *e, const uint8_t *frame, enum rltp_key *key)
{
	uint8_t copy[WIRE_OFF_HELLO_SEALED_TAG];
	uint16_t bytes = tag_offset(frame);

	wire_hello_constant(frame, bytes, copy);
	return endpoint_authentic(e, copy, bytes, frame + bytes, key);
}

uint8_t handshake_protection(const struct rltp_endpoint *e, const struct rltp_session *s)
{
	return e->options.protect ? e->options.protect(e->options.protect_context, &s->address)
				  : WIRE_PROTECT_NONE;
}

static uint16_t hello_frame_bytes(uint8_t protect)
{
	return protect == WIRE_PROTECT_NONE ? WIRE_COMMON_BYTES + WIRE_HELLO_BYTES
					    : WIRE_HELLO_SEALED_FRAME;
}

static void hello_encode(struct rltp_endpoint *e, struct rltp_session *s, uint8_t type,
			 uint8_t protect, uint8_t *frame)
{
	struct wire_header h = {
		.type = type,
		.header_bytes = WIRE_COMMON_BYTES,
		.dst_session = type == WIRE_HELLO_ACK ? s->io->hello_echo_session : 0,
		.src_node = e->options.node,
		.dst_node = s->peer_node,
	};
	struct wire_hello hello = {
		.incarnation = e->options.incarnation,
		.epoch = s->epoch,
		.session = s->local_id,
		.psn = s->initial_psn,
		.rwnd = session_rwnd(s),
		.payload_bytes = s->payload_bytes,
		.features = WIRE_FEATURES | (e->options.long_frames ? WIRE_FEATURE_LONG : 0u),
		.nap_credit = e->options.nap_credit,
		.recovery = (uint8_t)s->shared->tuning.recovery,
		.protect = protect,
		.machine = e->options.machine,
		.echo_session = type == WIRE_HELLO_ACK ? s->io->hello_echo_session : 0,
		.echo_psn = type == WIRE_HELLO_ACK ? s->io->hello_echo_psn : 0,
	};

	if (protect == WIRE_PROTECT_NONE)
		hello.token = e->options.token(e->options.token_context, s->local_id);
	memcpy(hello.uuid, e->options.uuid, sizeof(hello.uuid));
	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
	/* length and flags, because the tags cover them */
	wire_control_seal(frame, hello_frame_bytes(protect));
}

static uint16_t key_node(const struct rltp_session *s)
{
	return s->outside ? WIRE_NODE_NONE : s->node;
}

/* The HELLO is sent unchanged until the peer answers. False: out of memory. */
static bool hello_start(struct rltp_endpoint *e, struct rltp_session *s, uint8_t protect)
{
	struct rltp_handshake *g = calloc(1, sizeof(*g));

	if (!g)
		return false;
	hello_encode(e, s, WIRE_HELLO, protect, g->frame);
	s->seal = e->options.seal->hello(e->options.seal_context, g->frame, key_node(s));
	if (!s->seal) {
		free(g);
		return false;
	}
	tag_write(e, RLTP_KEY_SEND, g->frame);
	s->io->handshake = g;
	return true;
}

static bool hello_build(struct rltp_endpoint *e, struct rltp_session *s, uint8_t type,
			uint64_t now_ns, struct datagram *out)
{
	const uint8_t protect = handshake_protection(e, s);

	if (!s->seal && protect == WIRE_PROTECT_NONE) {
		hello_encode(e, s, type, protect, out->header);
		if (!tag_write(e, type == WIRE_HELLO ? RLTP_KEY_SEND : s->io->hello_key,
			       out->header))
			return false;
	} else if (s->io->handshake || (type == WIRE_HELLO && hello_start(e, s, protect))) {
		memcpy(out->header, s->io->handshake->frame, WIRE_HELLO_SEALED_FRAME);
	} else {
		return false;
	}
	out->to = s->address;
	out->ecn = 0;
	out->segment_bytes = 0;
	out->slice_count = 0;
	out->header_bytes = hello_frame_bytes(out->header[WIRE_OFF_HELLO_PROTECT]);
	put_be32(out->header + WIRE_OFF_TX_TS, timestamp_of(now_ns));
	if (type == WIRE_HELLO)
		put_be64(out->header + WIRE_OFF_HELLO_COOKIE, s->io->cookie);
	wire_control_seal(out->header, out->header_bytes);
	if (type == WIRE_HELLO)
		memcpy(s->io->hello_tag, out->header + tag_offset(out->header), WIRE_TAG_BYTES);
	return true;
}

/* No sealed frame followed the HELLO_ACK: the HELLO was a replay, or the peer is gone. Starts a
 * handshake if messages wait; else forgets the session, which never carried data. */
static void hello_expire(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	if (rltp_session_busy(s)) {
		handshake_begin(e, s, now_ns);
		return;
	}
	/* In this state, rltp_session_fail() does not count the end of an open session. */
	s->state = RLTP_HANDSHAKE;
	rltp_session_fail(s, DXP_ETIMEDOUT);
}

/* Keys have changed, so the peer cannot answer the HELLO. */
static bool hello_outdated(const struct rltp_endpoint *e, const struct rltp_session *s)
{
	return s->seal && s->io->handshake && !e->options.seal->current(s->seal);
}

size_t handshake_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns)
{
	size_t n = 0;

	if (session_unconfirmed(s) && now_ns >= s->io->handshake->until_ns)
		hello_expire(e, s, now_ns);
	if (n < count && s->hello_ack_due) {
		n += hello_build(e, s, WIRE_HELLO_ACK, now_ns, &out[n]);
		s->hello_ack_due = false;
	}
	if (n < count && s->state == RLTP_HANDSHAKE && now_ns >= s->io->hello_deadline_ns) {
		if (hello_outdated(e, s))
			handshake_begin(e, s, now_ns);
		n += hello_build(e, s, WIRE_HELLO, now_ns, &out[n]);
		s->io->hello_deadline_ns = now_ns + s->io->hello_interval_ns;
		s->io->hello_interval_ns = min_u64(2 * s->io->hello_interval_ns, RLTP_HELLO_MAX_NS);
		e->counters.hellos_sent++;
	}
	return n;
}

uint64_t handshake_deadline(const struct rltp_session *s)
{
	if (s->hello_ack_due)
		return 0;
	return s->state == RLTP_HANDSHAKE ? s->io->hello_deadline_ns : UINT64_MAX;
}

/* A retransmission of the handshake that opened the current session. */
static bool handshake_repeated(const struct rltp_session *s, const struct wire_hello *hello)
{
	return s->state == RLTP_OPEN && s->peer_id == hello->session &&
	       s->peer_incarnation == hello->incarnation && s->peer_epoch == hello->epoch;
}

static bool handshake_stale(const struct rltp_session *s, const struct wire_hello *hello)
{
	if (hello->incarnation != s->peer_incarnation)
		return hello->incarnation < s->peer_incarnation;
	if (s->peer_epoch == 0)
		return false;
	int32_t newer = (int32_t)(hello->epoch - s->peer_epoch);
	return newer < 0 || (newer == 0 && !handshake_repeated(s, hello));
}

static bool answer_stale(const struct rltp_session *s, const struct wire_hello *hello)
{
	return hello->echo_session != s->local_id || hello->echo_psn != s->initial_psn;
}

static void session_renew(struct rltp_endpoint *e, struct rltp_session *s)
{
	rltp_session_fail(s, DXP_EPEERRESET);
	numbers_draw(e, s);
}

static void hello_receive(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_hello *hello, enum rltp_key key, uint64_t now_ns)
{
	bool repeated = handshake_repeated(s, hello);

	if (!repeated && s->state == RLTP_OPEN)
		session_renew(e, s);
	else if (!repeated && s->state == RLTP_IDLE)
		numbers_draw(e, s);
	if (rltp_session_wake(s, now_ns) != DXP_OK)
		return; /* memory is short; the peer will retransmit */
	if (!repeated) {
		session_keys_drop(s);
		rltp_session_open(s, hello, now_ns);
	}
	s->io->hello_echo_session = hello->session;
	s->io->hello_echo_psn = hello->psn;
	s->io->hello_key = key;
	s->hello_ack_due = true;
}

/* Decides which of two simultaneous HELLOs with protection counts. */
static bool own_hello_counts(const struct rltp_endpoint *e, const struct rltp_session *s,
			     const struct wire_header *h, const struct wire_hello *hello)
{
	int order = memcmp(e->options.uuid, hello->uuid, sizeof(hello->uuid));

	return s->state == RLTP_HANDSHAKE &&
	       (order < 0 || (order == 0 && e->options.node < h->src_node));
}

/* Opens the session with the keys `seal`. False: out of memory, or the peer's key is invalid; the
 * peer retransmits its HELLO. */
static bool hello_answer(struct rltp_endpoint *e, struct rltp_session *s,
			 const struct wire_hello *hello, enum rltp_key key, struct rltp_seal *seal,
			 uint64_t now_ns)
{
	struct rltp_handshake *g;

	if (rltp_session_wake(s, now_ns) != DXP_OK || (g = calloc(1, sizeof(*g))) == NULL)
		return false;
	s->io->hello_echo_session = hello->session;
	s->io->hello_echo_psn = hello->psn;
	hello_encode(e, s, WIRE_HELLO_ACK, hello->protect, g->frame);
	if (!e->options.seal->answer(seal, g->frame) || !tag_write(e, key, g->frame)) {
		free(g);
		return false;
	}
	g->until_ns = now_ns + RLTP_CONFIRM_NS;
	s->seal = seal;
	s->io->handshake = g;
	rltp_session_open(s, hello, now_ns);
	s->hello_ack_due = true;
	return true;
}

static void sealed_hello_receive(struct rltp_endpoint *e, struct rltp_session *s,
				 const struct wire_header *h, const struct wire_hello *hello,
				 enum rltp_key key, const uint8_t *frame, uint64_t now_ns)
{
	if (handshake_repeated(s, hello)) {
		s->hello_ack_due = session_unconfirmed(s);
		return;
	}
	if (own_hello_counts(e, s, h, hello))
		return;
	struct rltp_seal *seal = e->options.seal->accept(e->options.seal_context, frame,
							 key_node(s), key == RLTP_KEY_FORMER);
	if (!seal) {
		e->counters.unauthentic++;
		return;
	}
	if (session_unconfirmed(s) && hello->incarnation == s->peer_incarnation)
		/* the peer has built a new HELLO, and no data was exchanged */
		handshake_begin(e, s, now_ns);
	else if (s->state == RLTP_OPEN)
		session_renew(e, s);
	else if (s->state == RLTP_IDLE)
		numbers_draw(e, s);
	session_keys_drop(s);
	if (!hello_answer(e, s, hello, key, seal, now_ns))
		e->options.seal->free(seal);
}

static void hello_ack_receive(struct rltp_endpoint *e, struct rltp_session *s,
			      const struct wire_hello *hello, const uint8_t *frame, uint64_t now_ns)
{
	if (s->state != RLTP_HANDSHAKE)
		return;
	if (hello->protect == WIRE_PROTECT_NONE) {
		session_keys_drop(s);
		rltp_session_open(s, hello, now_ns);
		return;
	}
	if (!s->seal || !e->options.seal->finish(s->seal, frame)) {
		e->counters.unauthentic++;
		return;
	}
	free(s->io->handshake);
	s->io->handshake = NULL;
	rltp_session_open(s, hello, now_ns);
	/* the answering side waits for a sealed frame */
	s->io->ack_now = true;
}

/* Adds a sender that the policy admits and whose tag is right; otherwise counts the reason. */
static struct rltp_session *outside_peer(struct rltp_endpoint *e, const struct wire_header *h,
					 const struct wire_hello *hello,
					 const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = NULL;
	enum rltp_key key;

	if (h->type != WIRE_HELLO || e->options.node == WIRE_NODE_NONE ||
	    !e->options.outside_admits || !e->options.outside_admits(e->options.user, &a->from))
		e->counters.unknown_peer++;
	else if (!cookie_admit(e, NULL, h, hello, &a->from, now_ns))
		return NULL;
	else if (!tag_good(e, a->data, &key))
		e->counters.unauthentic++;
	else if ((s = e->options.outside_add(e->options.user, &a->from)) == NULL)
		e->counters.unknown_peer++;
	return s;
}

/* Possible only if the peer's id is unknown. */
static bool handshake_own(const struct rltp_endpoint *e, const struct wire_hello *hello)
{
	return hello->incarnation == e->options.incarnation &&
	       memcmp(hello->uuid, e->options.uuid, sizeof(hello->uuid)) == 0;
}

/* Both sides must require the same protection; otherwise a REJECT answers a HELLO. */
static bool protection_good(struct rltp_endpoint *e, struct rltp_session *s,
			    const struct wire_header *h, const struct wire_hello *hello,
			    const struct datagram_arrival *a, uint64_t now_ns)
{
	uint8_t own = handshake_protection(e, s);

	if (hello->protect == own)
		return true;
	e->counters.other_protection++;
	e->mismatch = (struct rltp_mismatch){s->node, own, hello->protect};
	e->mismatched = true;
	if (h->type == WIRE_HELLO)
		reject_hello(e, h, hello, own, &a->from, now_ns);
	return false;
}

/* Cheap checks come first, against floods of bad packets. */
void handshake_receive(struct rltp_endpoint *e, const struct wire_header *h,
		       const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = endpoint_peer_at(e, h->src_node, &a->from);
	struct wire_hello hello;
	enum rltp_key key;

	if (wire_hello_decode(a->data + h->header_bytes, h->payload_bytes, &hello) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	if (h->dst_node == WIRE_NODE_NONE && handshake_own(e, &hello)) {
		e->counters.not_for_us++;
		return;
	}
	if (!s && (s = outside_peer(e, h, &hello, a, now_ns)) == NULL)
		return;
	if (handshake_stale(s, &hello) || (h->type == WIRE_HELLO_ACK && answer_stale(s, &hello))) {
		e->counters.stale++;
		return;
	}
	if (h->type == WIRE_HELLO && !cookie_admit(e, s, h, &hello, &a->from, now_ns))
		return;
	if (!tag_good(e, a->data, &key)) {
		e->counters.unauthentic++;
		return;
	}
	if (!protection_good(e, s, h, &hello, a, now_ns))
		return;
	e->counters.hellos_received++;
	if (s->outside)
		s->peer_node = h->src_node;
	if (h->type == WIRE_HELLO_ACK)
		hello_ack_receive(e, s, &hello, a->data, now_ns);
	else if (hello.protect == WIRE_PROTECT_NONE)
		hello_receive(e, s, &hello, key, now_ns);
	else
		sealed_hello_receive(e, s, h, &hello, key, a->data, now_ns);
	schedule_ready(&e->schedule, s);
}
