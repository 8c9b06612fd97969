/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the session share and nobody else sees. */
#ifndef RLTP_INTERNAL_H
#define RLTP_INTERNAL_H

#include "base/util.h"
#include "rltp/session.h"

static inline struct tx_slot *tx_slot_at(struct rltp_session *s, uint32_t psn)
{
	return &s->tx[psn & (s->tx_size - 1)];
}

static inline uint32_t timestamp_of(uint64_t now_ns)
{
	return (uint32_t)(now_ns / WIRE_TS_NS);
}

/* transmit.c */
void header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
		  struct wire_header *h);
uint32_t packet_build(struct rltp_session *s, uint32_t psn, uint16_t extra_flags, uint64_t now_ns,
		      struct link_datagram *out); /* returns the payload's bytes */

/* acknowledge.c: the receiver's acknowledgements */
bool ack_due(const struct rltp_session *s, uint64_t now_ns);
void ack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out);
void nack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out);

/* recovery.c: the sender's loss detection */
void recovery_acknowledge(struct rltp_session *s, uint32_t cum, const struct wire_ack *ack,
			  uint64_t arrived_ns, uint64_t now_ns);
void recovery_refused(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);

#endif
