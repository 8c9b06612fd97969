/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving half: each reliable packet is offered to the layer above once, in whatever order it
 * comes. */
#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

static void nack_queue(struct rltp_session *s, const struct wire_header *h,
		       struct rltp_verdict verdict)
{
	s->counters.refused++;
	if (s->nack_count == RLTP_NACKS_PENDING)
		return; /* the sender repeats the packet, and we the refusal */
	s->nacks[s->nack_count++] = (struct wire_nack_body){
		.code = verdict.code,
		.qp = h->dst_qp,
		.msg_id = h->msg_id,
		.psn = h->psn,
		.retry_us = verdict.retry_us,
	};
}

/* The newest transmission that arrived since the last acknowledgement is what that one echoes. */
static void echo_note(struct rltp_session *s, const struct wire_header *h, uint64_t arrived_ns)
{
	if (s->echo_valid && seq_before(h->tx_ts, s->echo_ts))
		return;
	s->echo_valid = true;
	s->echo_ts = h->tx_ts;
	s->echo_psn = h->psn;
	s->echo_arrived_ns = arrived_ns;
}

static void duplicate_note(struct rltp_session *s)
{
	s->counters.duplicates++;
	s->dup_count++;
	s->ack_now = true; /* our acknowledgement was lost or late */
}

static void arrival_note(struct rltp_session *s, const struct wire_header *h, uint64_t arrived_ns,
			 uint64_t now_ns)
{
	bool had_holes = rx_map_has_holes(&s->rx);

	if (rx_map_set(&s->rx, h->psn)) {
		s->gap_new = true;
		s->ack_now = true;
	}
	if (had_holes && !rx_map_has_holes(&s->rx))
		s->ack_now = true; /* the sender can release its whole window */
	echo_note(s, h, arrived_ns);
	s->rx_count++;
	s->unacked_arrivals++;
	s->counters.received_packets++;
	s->counters.received_bytes += h->payload_bytes;
	/* Whoever PUTs waits for our word; after a NAP or a request an answer is likely, and will
	 * carry it. */
	bool awaited = h->type == WIRE_PUT && h->flags & WIRE_FLAG_LAST;
	if (awaited || h->flags & (WIRE_FLAG_AR | WIRE_FLAG_PROBE) ||
	    s->unacked_arrivals >= RLTP_ACK_EVERY)
		s->ack_now = true;
	else if (s->ack_deadline_ns == UINT64_MAX)
		s->ack_deadline_ns = now_ns + RLTP_ACK_DELAY_NS;
}

static void data_receive(struct rltp_session *s, const struct wire_header *h,
			 const uint8_t *payload, uint64_t arrived_ns, uint64_t now_ns)
{
	const struct rltp_user_ops *ops = s->options.ops;

	switch (rx_map_test(&s->rx, h->psn)) {
	case RX_DUPLICATE:
		echo_note(s, h, arrived_ns);
		duplicate_note(s);
		return;
	case RX_BEYOND: s->counters.beyond_window++; return;
	case RX_NEW: break;
	}
	if (h->type == WIRE_RESYNC) {
		ops->aborted(s->options.user, s, h);
	} else {
		struct rltp_verdict verdict = ops->deliver(s->options.user, s, h, payload);
		if (verdict.code != 0) {
			nack_queue(s, h, verdict);
			return;
		}
	}
	arrival_note(s, h, arrived_ns, now_ns);
}

static void ack_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *payload,
			uint64_t arrived_ns, uint64_t now_ns)
{
	struct wire_ack ack;

	if (wire_ack_decode(payload, h->payload_bytes, h->flags, &ack) != DXP_OK) {
		s->counters.acks_bad++;
		return;
	}
	s->counters.acks_received++;
	recovery_acknowledge(s, h->cum_ack, &ack, arrived_ns, now_ns);
}

static void nack_receive(struct rltp_session *s, const struct wire_header *h,
			 const uint8_t *payload, uint64_t now_ns)
{
	struct wire_nack_body nack;

	if (wire_nack_decode(payload, h->payload_bytes, &nack) != DXP_OK) {
		s->counters.acks_bad++;
		return;
	}
	s->counters.nacks_received++;
	recovery_refused(s, &nack, now_ns);
}

void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const uint8_t *payload, uint64_t arrived_ns, uint64_t now_ns)
{
	if (s->state != RLTP_OPEN)
		return;
	s->heard_ns = now_ns;
	if (header->type == WIRE_ACK) {
		ack_receive(s, header, payload, arrived_ns, now_ns);
		return;
	}
	if (header->type == WIRE_NACK) {
		nack_receive(s, header, payload, now_ns);
		return;
	}
	if (header->flags & WIRE_FLAG_ACKV)
		recovery_acknowledge(s, header->cum_ack, NULL, arrived_ns, now_ns);
	if (wire_type_reliable(header->type))
		data_receive(s, header, payload, arrived_ns, now_ns);
}
