/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receiver tells the sender: one acknowledgement per batch of arrivals, with everything
 * that it holds; and refusals, one frame each. Neither is reliable: both are made again from the
 * state when they are lost. */
#include <string.h>

#include "base/util.h"
#include "rltp/internal.h"

static void control_finish(struct rltp_session *s, struct wire_header *h, size_t body_bytes,
			   struct link_datagram *out)
{
	wire_header_encode(h, out->header);
	out->to = s->address;
	out->ecn = 0;
	out->slice_count = 0;
	out->header_bytes = (uint16_t)(WIRE_COMMON_BYTES + body_bytes);
	wire_control_seal(out->header, out->header_bytes);
}

bool ack_due(const struct rltp_session *s, uint64_t now_ns)
{
	return s->ack_now || now_ns >= s->ack_deadline_ns;
}

void ack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out)
{
	uint8_t *body = out->header + WIRE_COMMON_BYTES;
	struct wire_header h;
	struct wire_ack ack = {
		.echo_ts = s->echo_ts,
		.echo_psn = s->echo_psn,
		.hold = s->echo_valid ? timestamp_of(now_ns - min_u64(s->echo_arrived_ns, now_ns))
				      : WIRE_HOLD_NONE,
		.rwnd = (uint16_t)s->options.window_packets,
		.dup_count = s->dup_count,
		.rx_count = s->rx_count,
		.bitmap = body + WIRE_ACK_BODY_BYTES,
	};

	header_begin(s, WIRE_ACK, now_ns, &h);
	ack.sack_words = (uint8_t)rx_map_report(&s->rx, body + WIRE_ACK_BODY_BYTES,
						WIRE_SACK_WORDS_MAX, &ack.sack_off);
	if (ack.sack_words > 0)
		h.flags |= WIRE_FLAG_BMP;
	if (s->gap_new)
		h.flags |= WIRE_FLAG_NACK;
	wire_ack_encode(&ack, body);
	control_finish(s, &h, WIRE_ACK_BODY_BYTES + 8u * ack.sack_words, out);
	s->ack_now = s->gap_new = s->echo_valid = false;
	s->unacked_arrivals = 0;
	s->ack_deadline_ns = UINT64_MAX;
	s->counters.acks_sent++;
}

void nack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out)
{
	struct wire_header h;

	header_begin(s, WIRE_NACK, now_ns, &h);
	wire_nack_encode(&s->nacks[0], out->header + WIRE_COMMON_BYTES);
	control_finish(s, &h, WIRE_NACK_BODY_BYTES, out);
	s->nack_count--;
	memmove(&s->nacks[0], &s->nacks[1], s->nack_count * sizeof(s->nacks[0]));
	s->counters.nacks_sent++;
}
