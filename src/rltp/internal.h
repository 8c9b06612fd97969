/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions shared by the files of the session; not for other modules. */
#ifndef RLTP_INTERNAL_H
#define RLTP_INTERNAL_H

#include "base/util.h"
#include "rltp/session.h"
#include "wire/limits.h"

static inline struct tx_slot *tx_slot_at(struct rltp_io *io, uint32_t psn)
{
	return &io->tx[psn & (io->tx_size - 1)];
}

static inline uint32_t timestamp_of(uint64_t now_ns)
{
	return (uint32_t)(now_ns / WIRE_TS_NS);
}

/* session.c: returns true if the session may become idle without losing state. It must be
 * active. */
bool session_resting(const struct rltp_session *s);

/* Returns the receive window to advertise, in packets. Short packets take less of the link's
 * buffer. */
static inline uint16_t session_rwnd(const struct rltp_session *s)
{
	uint32_t rwnd = s->shared->rwnd;

	if (s->shared->receive_packets && s->payload_bytes <= RLTP_PMTU_BASE)
		rwnd *= RLTP_RWND_SHORT;
	return (uint16_t)(rwnd < WIRE_WINDOW_MAX ? rwnd : WIRE_WINDOW_MAX);
}

/* transmit.c */
void header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
		  struct wire_header *h);

/* slots.c: the ring of packets in flight and its lists, one per state */
int slots_create(struct rltp_io *io);
/* Makes space for one more packet; grows the ring if necessary. False: no space now. */
bool slots_room(struct rltp_session *s);
void slots_reset(struct rltp_io *io);
void slot_enter(struct rltp_io *io, struct tx_slot *slot, enum tx_state state);
void slot_leave(struct rltp_io *io, struct tx_slot *slot);
struct tx_slot *slot_first(struct rltp_io *io, const struct tx_list *list); /* or NULL */
struct tx_slot *slot_next(struct rltp_io *io, const struct tx_slot *slot);  /* or NULL */

/* flow.c: selection of the next message */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
/* Returns true if flow_next would find a message outside the run queues. */
bool flow_ready(const struct rltp_session *s);
/* Returns the channels of which flow_next would find a message; bit c: channel c. */
uint32_t flow_channels(const struct rltp_session *s);
/* Returns the next flow: control, or one of the channels in `mask`; NULL: none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes); /* to its quantum */
/* Charges `bytes` sent to the flow's channel; retransmissions count too. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, uint8_t index);                  /* counts one packet sent */
void flow_settled(struct rltp_io *io, const struct tx_slot *slot); /* counts it as completed */
/* Removes any message, for a session that closes. */
struct rltp_message *flow_take(struct rltp_session *s);
void flows_free(struct rltp_session *s); /* before `io` is freed */

/* acknowledge.c: packets from receiver to sender */
bool ack_due(const struct rltp_session *s, uint64_t now_ns);
void ack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void nack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void control_finish(const struct udp_address *to, const struct wire_header *h, size_t body_bytes,
		    struct datagram *out);

/* credit.c: NAP credit limits, granted and requested */
size_t credits_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns);

/* recovery.c: the sender's loss detection */
uint32_t session_window(const struct rltp_session *s); /* packets */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t reorder_window(const struct rltp_session *s);
void slot_lost(struct rltp_session *s, struct tx_slot *slot);

/* refusal.c: packets that the receiver rejects */
void refusal_take(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
/* Notes that the packet was accepted. */
void refusal_settled(struct rltp_session *s, const struct tx_slot *slot);
/* Returns the packets of a message that may be sent before the receiver answers. */
uint32_t refusal_called(const struct rltp_flow *f, const struct rltp_message *m);
struct tx_slot *refused_due(struct rltp_io *io, uint64_t now_ns); /* or NULL */

/* keepalive.c: PING and PONG */
size_t keepalive_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t keepalive_deadline(const struct rltp_session *s);
void ping_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);

/* pmtu.c: path MTU. pmtu_lost: a packet was declared lost; pmtu_acked: one arrived after losses. */
void pmtu_open(struct rltp_session *s, uint64_t now_ns);
size_t pmtu_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t pmtu_deadline(const struct rltp_session *s);
bool pmtu_resting(const struct rltp_session *s);
void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);
void pmtu_lost(struct rltp_session *s, const struct tx_slot *slot, uint64_t now_ns);
void pmtu_acked(struct rltp_session *s, const struct tx_slot *slot, uint64_t now_ns);

/* comparator.c: other loss detection methods */
void irn_losses(struct rltp_session *s, uint32_t highest);
void gbn_rewind(struct rltp_session *s);

#endif
