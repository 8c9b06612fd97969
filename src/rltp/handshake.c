/* SPDX-License-Identifier: BSD-3-Clause */
/* Handshakes: open sessions and remove remains of older ones.
 *
 * Each side draws a session id, an epoch and a first packet number. HELLO carries them; HELLO_ACK
 * carries the peer's own and echoes those of the HELLO. A side may send once it has the peer's
 * numbers. If both sides start at once, each accepts the peer's HELLO as the answer. The pair
 * (incarnation, epoch) only grows, so late copies of old handshakes are detected. A tag proves that
 * the sender has the fabric key. Its check is the most expensive, so it comes last and is
 * rate-limited. */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "rltp/internal.h"
#include "wire/ids.h"

/* Draws new numbers for this side. Required whenever the peer may hold state of an earlier
 * session. */
static void numbers_draw(struct rltp_endpoint *e, struct rltp_session *s)
{
	uint32_t random[2];

	e->options.entropy(e->options.entropy_context, random, sizeof(random));
	s->initial_psn = random[0];
	s->local_id = (random[1] & 0xffff0000u) | s->node;
	s->epoch = ++e->epoch;
}

void handshake_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	numbers_draw(e, s);
	if (s->outside)
		s->peer_node = WIRE_NODE_NONE; /* another node may have this address now */
	s->state = RLTP_HANDSHAKE;
	s->io->hello_interval_ns = RLTP_HELLO_FIRST_NS;
	s->io->hello_deadline_ns = now_ns;
	s->received_ns = now_ns;
}

/* Computes the tag over the preceding bytes of the frame, except fields that change in transit or
 * per transmission. */
static void tag_compute(const struct rltp_endpoint *e, const uint8_t *frame,
			uint8_t tag[WIRE_TAG_BYTES])
{
	uint8_t copy[WIRE_HELLO_TAG_OFFSET];

	if (!e->options.authenticate) {
		memset(tag, 0, WIRE_TAG_BYTES);
		return;
	}
	memcpy(copy, frame, sizeof(copy));
	memset(copy + WIRE_OFF_TX_TS, 0, 4);
	memset(copy + WIRE_OFF_CUM_ACK, 0, 4);
	memset(copy + WIRE_OFF_CE_COUNT, 0, 2);
	memset(copy + WIRE_OFF_CRC, 0, 4);
	e->options.authenticate(e->options.authenticate_context, copy, sizeof(copy), tag);
}

/* Compares in constant time. */
static bool tag_good(const struct rltp_endpoint *e, const uint8_t *frame)
{
	const uint8_t *reported = frame + WIRE_HELLO_TAG_OFFSET;
	uint8_t tag[WIRE_TAG_BYTES];
	volatile uint8_t difference = 0;

	tag_compute(e, frame, tag);
	for (uint32_t i = 0; i < WIRE_TAG_BYTES; i++)
		difference |= tag[i] ^ reported[i];
	return difference == 0;
}

static void hello_build(struct rltp_endpoint *e, struct rltp_session *s, uint8_t type,
			uint64_t now_ns, struct datagram *out)
{
	struct wire_header h = {
		.type = type,
		.header_bytes = WIRE_COMMON_BYTES,
		.dst_session = type == WIRE_HELLO_ACK ? s->io->hello_echo_session : 0,
		.src_node = e->options.node,
		.dst_node = s->peer_node,
		.tx_ts = timestamp_of(now_ns),
	};
	struct wire_hello hello = {
		.incarnation = e->options.incarnation,
		.epoch = s->epoch,
		.session = s->local_id,
		.psn = s->initial_psn,
		.rwnd = session_rwnd(s),
		.payload_bytes = s->payload_bytes,
		.features = WIRE_FEATURES,
		.nap_credit = e->options.nap_credit,
		.recovery = (uint8_t)s->shared->tuning.recovery,
		.token = e->options.token(e->options.token_context, s->local_id),
		.echo_session = type == WIRE_HELLO_ACK ? s->io->hello_echo_session : 0,
		.echo_psn = type == WIRE_HELLO_ACK ? s->io->hello_echo_psn : 0,
	};

	memcpy(hello.uuid, e->options.uuid, sizeof(hello.uuid));
	wire_header_encode(&h, out->header);
	wire_hello_encode(&hello, out->header + WIRE_COMMON_BYTES);
	out->to = s->address;
	out->ecn = 0;
	out->slice_count = 0;
	out->header_bytes = WIRE_COMMON_BYTES + WIRE_HELLO_BYTES;
	wire_control_seal(out->header, out->header_bytes); /* the tag covers length and flags */
	tag_compute(e, out->header, out->header + WIRE_HELLO_TAG_OFFSET);
	wire_control_seal(out->header, out->header_bytes);
}

size_t handshake_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns)
{
	size_t n = 0;

	if (n < count && s->hello_ack_due) {
		hello_build(e, s, WIRE_HELLO_ACK, now_ns, &out[n++]);
		s->hello_ack_due = false;
	}
	if (n < count && s->state == RLTP_HANDSHAKE && now_ns >= s->io->hello_deadline_ns) {
		hello_build(e, s, WIRE_HELLO, now_ns, &out[n++]);
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

/* Returns true if the handshake was retransmitted and belongs to the open session. */
static bool handshake_repeated(const struct rltp_session *s, const struct wire_hello *hello)
{
	return s->state == RLTP_OPEN && s->peer_id == hello->session &&
	       s->peer_incarnation == hello->incarnation && s->peer_epoch == hello->epoch;
}

/* Returns true if the handshake is older than the known state of the peer, or belongs to a closed
 * session. */
static bool handshake_stale(const struct rltp_session *s, const struct wire_hello *hello)
{
	if (hello->incarnation != s->peer_incarnation)
		return hello->incarnation < s->peer_incarnation;
	if (s->peer_epoch == 0)
		return false;
	int32_t newer = (int32_t)(hello->epoch - s->peer_epoch);
	return newer < 0 || (newer == 0 && !handshake_repeated(s, hello));
}

/* Returns true if this HELLO_ACK does not answer our latest HELLO. */
static bool answer_stale(const struct rltp_session *s, const struct wire_hello *hello)
{
	return hello->echo_session != s->local_id || hello->echo_psn != s->initial_psn;
}

/* Closes the session because the peer opened a new one. Draws new numbers for this side. */
static void session_renew(struct rltp_endpoint *e, struct rltp_session *s)
{
	rltp_session_fail(s, DXP_EPEERRESET);
	numbers_draw(e, s);
}

static void hello_receive(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_hello *hello, uint64_t now_ns)
{
	bool repeated = handshake_repeated(s, hello);

	if (!repeated && s->state == RLTP_OPEN)
		session_renew(e, s);
	else if (!repeated && s->state == RLTP_IDLE)
		numbers_draw(e, s);
	if (rltp_session_wake(s, now_ns) != DXP_OK)
		return; /* the peer retransmits its HELLO */
	if (!repeated)
		rltp_session_open(s, hello, now_ns);
	s->io->hello_echo_session = hello->session;
	s->io->hello_echo_psn = hello->psn;
	s->hello_ack_due = true;
}

static void hello_ack_receive(struct rltp_session *s, const struct wire_hello *hello,
			      uint64_t now_ns)
{
	if (s->state == RLTP_HANDSHAKE)
		rltp_session_open(s, hello, now_ns);
}

/* Limits handshakes per second, per peer and in total. A flood that fakes one peer blocks only that
 * peer. */
static bool handshake_allowed(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	uint32_t second = (uint32_t)(now_ns / S_NS);

	if (s->hello_second != (uint16_t)second)
		s->hello_spent = 0;
	if (e->hello_second != second)
		e->hello_spent = 0;
	s->hello_second = (uint16_t)second;
	e->hello_second = second;
	if (s->hello_spent == RLTP_HANDSHAKES_PEER_PER_S || e->hello_spent == RLTP_HANDSHAKES_PER_S)
		return false;
	s->hello_spent++;
	e->hello_spent++;
	return true;
}

static bool outside_allowed(struct rltp_endpoint *e, uint64_t now_ns)
{
	uint32_t second = (uint32_t)(now_ns / S_NS);

	if (e->outside_second != second)
		e->outside_spent = 0;
	e->outside_second = second;
	return e->outside_spent < RLTP_HANDSHAKES_OUTSIDE_PER_S && ++e->outside_spent;
}

/* Adds the sender of a handshake as a peer, if policy and tag permit. Otherwise counts the reason
 * and returns NULL. */
static struct rltp_session *outside_peer(struct rltp_endpoint *e, const struct wire_header *h,
					 const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = NULL;

	if (h->type != WIRE_HELLO || e->options.node == WIRE_NODE_NONE ||
	    !e->options.outside_admits || !e->options.outside_admits(e->options.user, &a->from))
		e->counters.unknown_peer++;
	else if (!outside_allowed(e, now_ns))
		e->counters.flooded++;
	else if (!tag_good(e, a->data))
		e->counters.unauthentic++;
	else if ((s = e->options.outside_add(e->options.user, &a->from)) == NULL)
		e->counters.unknown_peer++;
	return s;
}

/* Returns true for a handshake of this node that was sent back to it. Only handshakes to peers of
 * unknown id reach this check. */
static bool handshake_own(const struct rltp_endpoint *e, const struct wire_hello *hello)
{
	return hello->incarnation == e->options.incarnation &&
	       memcmp(hello->uuid, e->options.uuid, sizeof(hello->uuid)) == 0;
}

/* Each cheap check protects the more expensive ones after it from a flood. */
void handshake_receive(struct rltp_endpoint *e, const struct wire_header *h,
		       const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = endpoint_peer_at(e, h->src_node, &a->from);
	struct wire_hello hello;

	if (wire_hello_decode(a->data + h->header_bytes, h->payload_bytes, &hello) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	if (h->dst_node == WIRE_NODE_NONE && handshake_own(e, &hello)) {
		e->counters.not_for_us++;
		return;
	}
	if (!s && (s = outside_peer(e, h, a, now_ns)) == NULL)
		return;
	if (handshake_stale(s, &hello) || (h->type == WIRE_HELLO_ACK && answer_stale(s, &hello))) {
		e->counters.stale++;
		return;
	}
	if (h->type == WIRE_HELLO && !handshake_allowed(e, s, now_ns)) {
		e->counters.flooded++;
		return;
	}
	if (!tag_good(e, a->data)) {
		e->counters.unauthentic++;
		return;
	}
	e->counters.hellos_received++;
	if (s->outside)
		s->peer_node = h->src_node;
	if (h->type == WIRE_HELLO)
		hello_receive(e, s, &hello, now_ns);
	else
		hello_ack_receive(s, &hello, now_ns);
	schedule_ready(&e->schedule, s);
}
