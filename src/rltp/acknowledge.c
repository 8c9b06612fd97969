/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds ACK and NACK packets: one ACK per batch of arrivals, one NACK per rejection. Each ACK has
 * the map of received packets, so it replaces lost ones. If a NACK is lost, the retransmitted
 * packet is rejected again. */
#include <string.h>

#include "base/util.h"
#include "rltp/internal.h"

void rltp_control_finish(const struct udp_address *to, const struct wire_header *h,
			 size_t body_bytes, struct datagram *out)
{
	wire_header_encode(h, out->header);
	out->to = *to;
	out->ecn = 0;
	out->segment_bytes = 0;
	out->slice_count = 0;
	out->header_bytes = (uint16_t)(WIRE_COMMON_BYTES + body_bytes);
	wire_control_seal(out->header, out->header_bytes);
}

bool rltp_ack_due(const struct rltp_session *s, uint64_t now_ns)
{
	return s->io->ack_now || now_ns >= s->io->ack_deadline_ns;
}

/* Adds one credit limit; CREDIT packets carry further ones. */
static void grant_add(struct rltp_session *s, struct wire_header *h, struct wire_ack *ack)
{
	struct wire_credit_entry entry;

	if (!s->io->grants_due)
		return;
	if (s->shared->ops->grants(s->shared->user, s, &entry, 1) == 0) {
		s->io->grants_due = false;
		return;
	}
	h->flags |= WIRE_FLAG_CREDIT;
	ack->credit = true;
	ack->credit_qp = entry.qp;
	ack->credit_limit = entry.limit;
}

void rltp_ack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	uint8_t *body = out->header + WIRE_COMMON_BYTES;
	struct rltp_io *io = s->io;
	struct wire_header h;
	struct wire_ack ack = {
		.echo_ts = io->echo_ts,
		.echo_psn = io->echo_psn,
		.hold = io->echo_valid ? timestamp_of(now_ns - min_u64(io->echo_arrived_ns, now_ns))
				       : WIRE_HOLD_NONE,
		.rwnd = session_rwnd(s),
		.rx_level = s->shared->rx_level,
		.dup_count = s->dup_count,
		.rx_count = s->rx_count,
		.bitmap = body + WIRE_ACK_BODY_BYTES,
	};

	transmit_header_begin(s, WIRE_ACK, now_ns, &h);
	ack.sack_words = (uint8_t)rx_map_report(&io->rx, body + WIRE_ACK_BODY_BYTES,
						WIRE_SACK_WORDS_MAX, &ack.sack_off);
	if (ack.sack_words > 0)
		h.flags |= WIRE_FLAG_BMP;
	if (io->gap_new)
		h.flags |= WIRE_FLAG_NACK;
	grant_add(s, &h, &ack);
	wire_ack_encode(&ack, body);
	rltp_control_finish(&s->address, &h, WIRE_ACK_BODY_BYTES + 8u * ack.sack_words, out);
	io->ack_now = io->gap_new = io->echo_valid = false;
	io->unacked_arrivals = 0;
	io->ack_deadline_ns = UINT64_MAX;
	s->counters.acks_sent++;
}

void rltp_nack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	struct rltp_io *io = s->io;
	struct wire_header h;

	transmit_header_begin(s, WIRE_NACK, now_ns, &h);
	wire_nack_encode(&io->nacks[0], out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_NACK_BODY_BYTES, out);
	io->nack_count--;
	memmove(&io->nacks[0], &io->nacks[1], io->nack_count * sizeof(io->nacks[0]));
	s->counters.nacks_sent++;
}
