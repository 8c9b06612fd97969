/* SPDX-License-Identifier: BSD-3-Clause */
/* How sessions begin and how their remains are cleared away.
 *
 * Each side draws a session id, an epoch and a first packet number, and says them in HELLO; the
 * other answers with HELLO_ACK, which says its own and echoes what it answers. Whoever has heard
 * the other's numbers may send. Both may begin at once: each then takes the other's HELLO for the
 * answer. (incarnation, epoch) only ever grow, so a late copy of an old greeting is known. A packet
 * for a session that is gone is answered by RESET with the token the peer was told in the greeting.
 */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "rltp/internal.h"

/* New numbers for our side; needed whenever the peer may hold state of an earlier session. */
static void numbers_draw(struct rltp_endpoint *e, struct rltp_session *s)
{
	uint32_t random[2];

	e->options.entropy(e->options.entropy_context, random, sizeof(random));
	s->initial_psn = random[0];
	s->local_id = (random[1] & 0xffff0000u) | s->node;
	s->epoch = ++e->epoch;
}

void greeting_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	numbers_draw(e, s);
	s->state = RLTP_GREETING;
	s->io->hello_interval_ns = RLTP_HELLO_FIRST_NS;
	s->io->hello_deadline_ns = now_ns;
	s->heard_ns = now_ns;
}

static void hello_build(struct rltp_endpoint *e, struct rltp_session *s, uint8_t type,
			uint64_t now_ns, struct link_datagram *out)
{
	struct wire_header h = {
		.type = type,
		.header_bytes = WIRE_COMMON_BYTES,
		.dst_session = type == WIRE_HELLO_ACK ? s->hello_echo_session : 0,
		.src_node = e->options.node,
		.dst_node = s->node,
		.tx_ts = timestamp_of(now_ns),
	};
	struct wire_hello hello = {
		.incarnation = e->options.incarnation,
		.epoch = s->epoch,
		.session = s->local_id,
		.psn = s->initial_psn,
		.rwnd = s->shared->rwnd,
		.payload_bytes = s->payload_bytes,
		.nap_credit = e->options.nap_credit,
		.recovery = (uint8_t)s->shared->tuning.recovery,
		.token = e->options.token(e->options.token_context, s->local_id),
		.echo_session = type == WIRE_HELLO_ACK ? s->hello_echo_session : 0,
		.echo_psn = type == WIRE_HELLO_ACK ? s->hello_echo_psn : 0,
	};

	memcpy(hello.uuid, e->options.uuid, sizeof(hello.uuid));
	wire_header_encode(&h, out->header);
	wire_hello_encode(&hello, out->header + WIRE_COMMON_BYTES);
	out->to = s->address;
	out->ecn = 0;
	out->slice_count = 0;
	out->header_bytes = WIRE_COMMON_BYTES + WIRE_HELLO_BYTES;
	wire_control_seal(out->header, out->header_bytes);
}

size_t greeting_send(struct rltp_endpoint *e, struct rltp_session *s, struct link_datagram *out,
		     size_t count, uint64_t now_ns)
{
	size_t n = 0;

	if (n < count && s->hello_ack_due) {
		hello_build(e, s, WIRE_HELLO_ACK, now_ns, &out[n++]);
		s->hello_ack_due = false;
	}
	if (n < count && s->state == RLTP_GREETING && now_ns >= s->io->hello_deadline_ns) {
		hello_build(e, s, WIRE_HELLO, now_ns, &out[n++]);
		s->io->hello_deadline_ns = now_ns + s->io->hello_interval_ns;
		s->io->hello_interval_ns = min_u64(2 * s->io->hello_interval_ns, RLTP_HELLO_MAX_NS);
		e->counters.hellos_sent++;
	}
	return n;
}

uint64_t greeting_deadline(const struct rltp_session *s)
{
	if (s->hello_ack_due)
		return 0;
	return s->state == RLTP_GREETING ? s->io->hello_deadline_ns : UINT64_MAX;
}

/* Is this greeting older than what we know of the peer? */
static bool greeting_stale(const struct rltp_session *s, const struct wire_hello *hello)
{
	if (hello->incarnation != s->peer_incarnation)
		return hello->incarnation < s->peer_incarnation;
	return s->peer_epoch != 0 && (int32_t)(hello->epoch - s->peer_epoch) < 0;
}

/* Does the greeting speak of the session that is open already? Then it is a repeat. */
static bool greeting_repeated(const struct rltp_session *s, const struct wire_hello *hello)
{
	return s->state == RLTP_OPEN && s->peer_id == hello->session &&
	       s->peer_incarnation == hello->incarnation && s->peer_epoch == hello->epoch;
}

/* The peer began anew: what we had with it is void, and our side needs new numbers too. */
static void session_renew(struct rltp_endpoint *e, struct rltp_session *s)
{
	rltp_session_fail(s, DXP_EPEERRESET);
	numbers_draw(e, s);
}

static void hello_take(struct rltp_endpoint *e, struct rltp_session *s,
		       const struct wire_hello *hello, uint64_t now_ns)
{
	if (!greeting_repeated(s, hello)) {
		if (s->state == RLTP_OPEN)
			session_renew(e, s);
		else if (s->state == RLTP_IDLE)
			numbers_draw(e, s);
		if (rltp_session_wake(s, now_ns) != DXP_OK)
			return; /* the peer greets again */
		rltp_session_open(s, hello, now_ns);
	}
	s->hello_echo_session = hello->session;
	s->hello_echo_psn = hello->psn;
	s->hello_ack_due = true;
}

static void hello_ack_take(struct rltp_endpoint *e, struct rltp_session *s,
			   const struct wire_hello *hello, uint64_t now_ns)
{
	if (hello->echo_session != s->local_id || hello->echo_psn != s->initial_psn) {
		e->counters.stale++; /* the answer to an earlier greeting */
		return;
	}
	if (s->state == RLTP_GREETING)
		rltp_session_open(s, hello, now_ns);
}

void greeting_receive(struct rltp_endpoint *e, const struct wire_header *h,
		      const struct link_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = rltp_endpoint_session(e, h->src_node);
	struct wire_hello hello;

	if (wire_hello_decode(a->data + h->header_bytes, h->payload_bytes, &hello) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	if (!s || !wire_address_equal(&s->address, &a->from)) {
		e->counters.unknown_peer++;
		return;
	}
	if (greeting_stale(s, &hello)) {
		e->counters.stale++;
		return;
	}
	e->counters.hellos_received++;
	if (h->type == WIRE_HELLO)
		hello_take(e, s, &hello, now_ns);
	else
		hello_ack_take(e, s, &hello, now_ns);
	session_activate(e, s);
}

/* Never answers a frame shorter than the answer, nor a RESET, nor more often than
 * RLTP_RESETS_PER_S. */
void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct wire_address *from)
{
	size_t frame_bytes = (size_t)h->header_bytes + h->payload_bytes;

	if (e->reset_count == RESETS_PENDING || h->dst_session == 0 ||
	    frame_bytes < WIRE_COMMON_BYTES + WIRE_RESET_BYTES)
		return;
	e->resets[e->reset_count++] = (struct pending_reset){*from, h->dst_session, h->src_node};
}

static bool reset_allowed(struct rltp_endpoint *e, uint64_t now_ns)
{
	if (now_ns - e->reset_window_ns >= S_NS) {
		e->reset_window_ns = now_ns;
		e->reset_spent = 0;
	}
	return e->reset_spent++ < RLTP_RESETS_PER_S;
}

static void reset_build(struct rltp_endpoint *e, const struct pending_reset *r, uint64_t now_ns,
			struct link_datagram *out)
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

	wire_header_encode(&h, out->header);
	wire_reset_encode(&reset, out->header + WIRE_COMMON_BYTES);
	out->to = r->to;
	out->ecn = 0;
	out->slice_count = 0;
	out->header_bytes = WIRE_COMMON_BYTES + WIRE_RESET_BYTES;
	wire_control_seal(out->header, out->header_bytes);
}

size_t resets_send(struct rltp_endpoint *e, struct link_datagram *out, size_t count,
		   uint64_t now_ns)
{
	size_t n = 0;

	while (n < count && e->reset_count > 0) {
		const struct pending_reset *r = &e->resets[--e->reset_count];
		if (!reset_allowed(e, now_ns))
			continue;
		reset_build(e, r, now_ns, &out[n++]);
		e->counters.resets_sent++;
	}
	return n;
}

void reset_receive(struct rltp_endpoint *e, const struct wire_header *h, const uint8_t *body)
{
	struct rltp_session *s = rltp_endpoint_session(e, h->src_node);
	struct wire_reset reset;

	if (wire_reset_decode(body, h->payload_bytes, &reset) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	if (!s || s->state != RLTP_OPEN || reset.session != s->peer_id ||
	    reset.token != s->peer_token) {
		e->counters.resets_refused++;
		return;
	}
	e->counters.resets_taken++;
	rltp_session_fail(s, DXP_EPEERRESET);
}
