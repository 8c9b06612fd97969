/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes reliable packets to the layer above in the order of arrival, until each is accepted once.
 */
#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

#define ECN_MARKED 3 /* ECN "congestion experienced" (RFC 3168) */

static void nack_queue(struct rltp_session *s, const struct wire_nack_body *nack)
{
	if (s->io->nack_count == RLTP_NACKS_PENDING)
		return; /* the peer retransmits the packet */
	s->io->nacks[s->io->nack_count++] = *nack;
}

static struct rltp_verdict verdict_known(const struct rltp_session *s, struct rltp_verdict v)
{
	if (v.code == WIRE_NACK_HELD && !(s->peer_features & WIRE_FEATURE_HELD))
		v.code = WIRE_NACK_RNR;
	if (v.code == WIRE_NACK_WAIT && !(s->peer_features & WIRE_FEATURE_WAIT))
		v = (struct rltp_verdict){WIRE_NACK_RNR, RLTP_WAIT_RETRY_US, 0};
	return v;
}

/* Packets of one message that arrive together need only one NACK. */
static bool wait_merged(struct rltp_io *io, const struct wire_nack_body *nack)
{
	for (uint32_t i = 0; i < io->nack_count; i++) {
		const struct wire_nack_body *other = &io->nacks[i];
		if (other->code == WIRE_NACK_WAIT && other->msg_id == nack->msg_id &&
		    other->qp == nack->qp && other->granted == nack->granted)
			return true;
	}
	return false;
}

static void packet_rejected(struct rltp_session *s, const struct wire_header *h,
			    struct rltp_verdict verdict)
{
	verdict = verdict_known(s, verdict);
	struct wire_nack_body nack = {
		.code = verdict.code,
		.qp = h->dst_qp,
		.msg_id = h->msg_id,
		.psn = h->psn,
		.retry_us = verdict.retry_us,
	};

	s->counters.refused += verdict.code != WIRE_NACK_HELD;
	if (verdict.code == WIRE_NACK_WAIT) {
		nack.qp = wire_nack_position(h->dst_function, h->dst_qp);
		nack.granted = verdict.granted;
		if (wait_merged(s->io, &nack))
			return;
	}
	nack_queue(s, &nack);
}

/* Keeps the time stamp of the newest transmission, for the next ACK. */
static void echo_note(struct rltp_io *io, const struct wire_header *h, uint64_t arrived_ns)
{
	if (io->echo_valid && seq_before(h->tx_ts, io->echo_ts))
		return;
	io->echo_valid = true;
	io->echo_ts = h->tx_ts;
	io->echo_psn = h->psn;
	io->echo_arrived_ns = arrived_ns;
}

static void duplicate_note(struct rltp_session *s)
{
	s->counters.duplicates++;
	s->dup_count++;
	/* The last acknowledgement was lost or late. */
	s->io->ack_now = true;
}

static void arrival_count(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes)
{
	struct rltp_io *io = s->io;
	bool had_holes = rx_map_has_holes(&io->rx);

	if (rx_map_set(&io->rx, psn)) {
		io->gap_new = true;
		io->ack_now = true;
	}
	if (had_holes && !rx_map_has_holes(&io->rx))
		/* The sender can free its whole window. */
		io->ack_now = true;
	io->gap_reported = false;
	s->rx_count++;
	s->counters.received_packets++;
	s->counters.received_bytes += payload_bytes;
}

static void arrival_note(struct rltp_session *s, const struct wire_header *h, uint64_t arrived_ns,
			 uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	arrival_count(s, h->psn, h->payload_bytes);
	echo_note(io, h, arrived_ns);
	if (h->payload_bytes > s->whole)
		io->unacked_arrivals += h->payload_bytes / s->whole;
	io->unacked_arrivals += h->flags & WIRE_FLAG_LAST ? RLTP_ACK_EVERY / RLTP_ACK_MESSAGES : 1;
	/* The sender of a PUT waits for the ACK; a NAP or request probably gets an answer that
	 * carries it. */
	bool awaited = h->type == WIRE_PUT && h->flags & WIRE_FLAG_LAST;
	/* The sender of a retransmission waits too. */
	if (awaited || h->flags & (WIRE_FLAG_AR | WIRE_FLAG_PROBE | WIRE_FLAG_RTX) ||
	    io->unacked_arrivals >= RLTP_ACK_EVERY)
		io->ack_now = true;
	else if (io->ack_deadline_ns == UINT64_MAX)
		io->ack_deadline_ns = now_ns + RLTP_ACK_DELAY_NS;
}

/* False: the peer uses go-back-N, and the packet is out of order. With NACKs, reports the gap once
 * until `cum` advances. */
static bool order_good(struct rltp_session *s, const struct wire_header *h)
{
	struct rltp_io *io = s->io;

	if (s->peer_recovery < RLTP_GBN_NAK || h->psn == io->rx.cum)
		return true;
	s->counters.out_of_order++;
	if (s->peer_recovery == RLTP_GBN_NAK && !io->gap_reported)
		io->gap_new = io->ack_now = io->gap_reported = true;
	return false;
}

static void data_receive(struct rltp_session *s, const struct wire_header *h,
			 const struct datagram_arrival *a, uint64_t now_ns)
{
	const struct rltp_user_ops *ops = s->shared->ops;

	if ((a->ecn & ECN_MARKED) == ECN_MARKED) {
		s->ce_count++;
		s->counters.marked++;
	}
	switch (rx_map_test(&s->io->rx, h->psn)) {
	case RX_DUPLICATE:
		echo_note(s->io, h, a->arrived_ns);
		duplicate_note(s);
		return;
	case RX_BEYOND: s->counters.beyond_window++; return;
	case RX_NEW: break;
	}
	if (!order_good(s, h))
		return;
	if (h->type == WIRE_RESYNC) {
		if (!ops->aborted(s->shared->user, s, h)) {
			s->counters.no_memory++;
			return;
		}
	} else {
		struct rltp_verdict verdict =
			ops->deliver(s->shared->user, s, h, a->data + h->header_bytes);
		if (verdict.code != 0) {
			packet_rejected(s, h, verdict);
			return;
		}
	}
	arrival_note(s, h, a->arrived_ns, now_ns);
}

static bool settles(const struct rltp_session *s, uint32_t psn)
{
	return s->state == RLTP_OPEN && s->io && rx_map_test(&s->io->rx, psn) == RX_NEW;
}

/* Time in the device is not part of the round trip, so its time stamp is not echoed. */
void rltp_session_accept(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes,
			 uint64_t now_ns)
{
	if (!settles(s, psn))
		return;
	arrival_count(s, psn, payload_bytes);
	s->io->ack_now = true;
	s->io->active_ns = now_ns;
}

uint32_t rltp_session_missing(const struct rltp_session *s, uint32_t psn)
{
	return rx_map_missing(&s->io->rx, psn);
}

void rltp_session_reject(struct rltp_session *s, const struct wire_nack_body *nack)
{
	if (!settles(s, nack->psn))
		return;
	s->counters.refused++;
	nack_queue(s, nack);
}

void rltp_session_call(struct rltp_session *s, const struct wire_nack_body *nack)
{
	if (s->state == RLTP_OPEN && s->io && s->peer_features & WIRE_FEATURE_WAIT)
		nack_queue(s, nack);
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
	if (ack.credit) {
		struct wire_credit_entry entry = {ack.credit_qp, ack.credit_limit};
		s->shared->ops->granted(s->shared->user, s, &entry);
	}
	recovery_acknowledge(s, h, &ack, arrived_ns, now_ns);
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
	rejection_receive(s, &nack, now_ns);
}

void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const struct datagram_arrival *a, uint64_t now_ns)
{
	const uint8_t *payload = a->data + header->header_bytes;

	if (s->state != RLTP_OPEN)
		return;
	if (rltp_session_wake(s, now_ns) != DXP_OK) {
		s->counters.no_memory++;
		return;
	}
	s->received_ns = now_ns;
	s->away = 0;
	s->io->arrived_ns = now_ns;
	s->io->peer_idle = false;
	switch (header->type) {
	case WIRE_ACK: ack_receive(s, header, payload, a->arrived_ns, now_ns); return;
	case WIRE_NACK: nack_receive(s, header, payload, now_ns); break;
	case WIRE_CREDIT: credits_receive(s, header, payload, now_ns); break;
	case WIRE_PING:
	case WIRE_PONG: keepalive_ping_receive(s, header, payload, now_ns); break;
	case WIRE_PMTU_PROBE:
	case WIRE_PMTU_ACK: pmtu_receive(s, header, payload, now_ns); break;
	default: break;
	}
	if (header->flags & WIRE_FLAG_ACKV)
		recovery_acknowledge(s, header, NULL, a->arrived_ns, now_ns);
	if (wire_type_reliable(header->type))
		data_receive(s, header, a, now_ns);
}
