/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the session share and nobody else sees. */
#ifndef RLTP_INTERNAL_H
#define RLTP_INTERNAL_H

#include "base/util.h"
#include "rltp/session.h"

static inline struct tx_slot *tx_slot_at(struct rltp_io *io, uint32_t psn)
{
	return &io->tx[psn & (io->tx_size - 1)];
}

static inline uint32_t timestamp_of(uint64_t now_ns)
{
	return (uint32_t)(now_ns / WIRE_TS_NS);
}

/* session.c: is there nothing that would be forgotten by resting? The session is awake. */
bool session_resting(const struct rltp_session *s);

/* What a packet costs the link's buffer depends on its length. */
static inline uint16_t session_rwnd(const struct rltp_session *s)
{
	uint32_t rwnd = s->shared->rwnd;

	if (s->shared->receive_packets && s->payload_bytes <= RLTP_PMTU_BASE)
		rwnd *= RLTP_RWND_SHORT;
	return (uint16_t)(rwnd < RLTP_WINDOW_MAX ? rwnd : RLTP_WINDOW_MAX);
}

/* transmit.c */
void header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
		  struct wire_header *h);

/* slots.c: packets in flight, and the lists of those in one state */
int slots_create(struct rltp_io *io);
bool slots_room(struct rltp_session *s); /* for one more packet; grows the ring where it must */
void slots_reset(struct rltp_io *io);
void slot_enter(struct rltp_io *io, struct tx_slot *slot, enum tx_state state);
void slot_leave(struct rltp_io *io, struct tx_slot *slot);
struct tx_slot *slot_first(struct rltp_io *io, const struct tx_list *list); /* or NULL */
struct tx_slot *slot_next(struct rltp_io *io, const struct tx_slot *slot);  /* or NULL */

/* flow.c: whose packet is next */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
bool flow_ready(const struct rltp_session *s); /* would flow_next find one that is in no lane? */
uint32_t flow_channels(const struct rltp_session *s); /* bit c: it would find one of channel c */
/* Of control, or of the channels in `mask`; NULL: there is none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes); /* its turn's share */
/* So many bytes of its channel left, the first time or again. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, uint8_t index); /* one packet of it is under way */
void flow_settled(struct rltp_io *io, const struct tx_slot *slot); /* and is no more */
struct rltp_message *flow_take(struct rltp_session *s); /* any message, for a session that ends */
void flows_free(struct rltp_session *s);                /* before its `io` goes */

/* acknowledge.c: the receiver's words */
bool ack_due(const struct rltp_session *s, uint64_t now_ns);
void ack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out);
void nack_build(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out);
void control_finish(const struct wire_address *to, const struct wire_header *h, size_t body_bytes,
		    struct link_datagram *out);

/* credit.c: limits told and asked for */
size_t credits_send(struct rltp_session *s, struct link_datagram *out, size_t count,
		    uint64_t now_ns);
void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns);

/* recovery.c: the sender's loss detection */
uint32_t session_window(const struct rltp_session *s); /* packets that may be in flight */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t reorder_window(const struct rltp_session *s);
void slot_lost(struct rltp_session *s, struct tx_slot *slot);

/* refusal.c: what the receiver does not take */
void refusal_take(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
/* The packet is accepted. */
void refusal_settled(struct rltp_session *s, const struct tx_slot *slot);
/* Packets of a message that may be sent before the receiver has said anything. */
uint32_t refusal_called(const struct rltp_flow *f, const struct rltp_message *m);
struct tx_slot *refused_due(struct rltp_io *io, uint64_t now_ns); /* or NULL */

/* keepalive.c: PING and PONG */
size_t keepalive_send(struct rltp_session *s, struct link_datagram *out, size_t count,
		      uint64_t now_ns);
uint64_t keepalive_deadline(const struct rltp_session *s);
void ping_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);

/* pmtu.c: what the path carries; a packet was found lost, or has arrived after some were */
void pmtu_open(struct rltp_session *s, uint64_t now_ns);
size_t pmtu_send(struct rltp_session *s, struct link_datagram *out, size_t count, uint64_t now_ns);
uint64_t pmtu_deadline(const struct rltp_session *s);
bool pmtu_resting(const struct rltp_session *s);
void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);
void pmtu_lost(struct rltp_session *s, const struct tx_slot *slot, uint64_t now_ns);
void pmtu_acked(struct rltp_session *s, const struct tx_slot *slot, uint64_t now_ns);

/* comparator.c: the other ways to find losses */
void irn_losses(struct rltp_session *s, uint32_t highest);
void gbn_rewind(struct rltp_session *s);

#endif
