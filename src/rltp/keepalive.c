/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends PINGs while a session waits for an answer, is watched, or has messages that it may not
 * send, and no packet in flight will be acknowledged. So it stays open while the peer computes, and
 * detects a dead peer. */
#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

static bool sign_missing(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;

	return io->sent.count == 0 && io->lost.count == 0 && io->waiting.count == 0 &&
	       rltp_session_busy(s);
}

static uint64_t ping_deadline(const struct rltp_session *s)
{
	if (!sign_missing(s))
		return UINT64_MAX;
	uint64_t ping_ns = s->io->keepalive.ping_ns;
	bool silent = ping_ns > s->received_ns + RLTP_DEAD_NS;
	uint64_t again_ns = silent ? RLTP_RTO_SLOW_NS : RLTP_PING_AGAIN_NS;
	return max_u64(s->received_ns + RLTP_PING_NS, ping_ns + again_ns);
}

uint64_t keepalive_deadline(const struct rltp_session *s)
{
	return s->io->keepalive.answer_due ? 0 : ping_deadline(s);
}

static void sign_build(struct rltp_session *s, uint8_t type, uint64_t opaque, uint64_t now_ns,
		       struct datagram *out)
{
	struct wire_header h;

	transmit_header_begin(s, type, now_ns, &h);
	wire_ping_encode(opaque, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_PING_BYTES, out);
}

size_t keepalive_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct keepalive *k = &s->io->keepalive;
	size_t n = 0;

	if (n < count && k->answer_due) {
		sign_build(s, WIRE_PONG, k->opaque, now_ns, &out[n++]);
		k->answer_due = false;
		k->answered_ns = now_ns;
	}
	if (n < count && now_ns >= ping_deadline(s)) {
		sign_build(s, WIRE_PING, now_ns, now_ns, &out[n++]);
		k->ping_ns = now_ns;
		s->counters.pings_sent++;
	}
	return n;
}

void keepalive_ping_receive(struct rltp_session *s, const struct wire_header *h,
			    const uint8_t *body, uint64_t now_ns)
{
	struct keepalive *k = &s->io->keepalive;
	uint64_t opaque;

	if (wire_ping_decode(body, h->payload_bytes, &opaque) != DXP_OK) {
		s->counters.acks_bad++;
		return;
	}
	if (h->type == WIRE_PONG)
		return; /* the arrival itself shows that the peer is alive */
	if (k->answer_due || (k->answered_ns && now_ns < k->answered_ns + RLTP_PONG_NS))
		return;
	k->opaque = opaque;
	k->answer_due = true;
}
