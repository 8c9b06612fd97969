/* SPDX-License-Identifier: BSD-3-Clause */
/* What the NIC hands to RLTP and gets back: a message of 1 .. n packets, of which RLTP keeps only
 * (message, index) per packet in flight. Header fields and payload are asked for again at each
 * transmission, so nothing is copied or kept twice. */
#ifndef RLTP_MESSAGE_H
#define RLTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/datagram.h"
#include "wire/frame.h"

struct rltp_session;

/* Control goes first, always. Channels take turns by weight, and the queues of one channel equally;
 * both count bytes. */
#define RLTP_FLOW_CONTROL         0
#define RLTP_FLOW(channel, queue) ((uint8_t)(1 + (channel)*RLTP_CHANNEL_QUEUES + (queue)))

struct rltp_message {
	/* Set by the poster before rltp_session_post. */
	uint8_t type;   /* enum wire_type, a reliable one */
	uint8_t flow;   /* RLTP_FLOW_CONTROL or RLTP_FLOW(channel, queue) */
	uint16_t flags; /* WIRE_FLAG_SOL, FENCE, IMM, TRAILER: the last two ride in the last packet
			 */
	uint32_t bytes; /* payload in total; may be 0 */
	/* RLTP's from post to done. */
	struct rltp_message *next;
	uint32_t unit;         /* payload of each packet but the last */
	uint32_t packet_count; /* set when the first packet is cut */
	uint32_t next_sub;     /* packets cut so far */
	uint32_t unacked;      /* packets cut and not acknowledged */
	uint32_t called;       /* packets that the receiver takes now; UINT32_MAX: any */
	bool waits;            /* `called` is the receiver's word */
	uint16_t place;        /* with msg_id what the peer calls it; set with its first packet */
	uint32_t msg_id;
	int status; /* DXP_OK, or why the receiver does not take it: what is left goes out as RESYNC
		     */
};

/* One packet of a message, filled by the poster: the data extension's fields of `header` and the
 * payload. */
struct rltp_packet {
	struct wire_header header;
	struct link_slice slices[LINK_SLICES_MAX];
	uint8_t slice_count;
};

/* A refusal by the layer above: code 0 means accepted.
 *
 * WIRE_NACK_HELD is half a refusal: the payload is here, but the message is not done with: a device
 * has yet to take it. The sender neither counts the packet as lost nor stops the flow for it; it
 * repeats it after retry_us, unless rltp_session_accept() or rltp_session_refuse() has settled it
 * before.
 *
 * WIRE_NACK_WAIT is a refusal for want of room, of which the layer above keeps account: it says
 * with rltp_session_call() when there is some. Until then nothing of the message is sent but what
 * it was called for. */
struct rltp_verdict {
	uint8_t code;      /* enum wire_nack */
	uint32_t retry_us; /* with WIRE_NACK_RNR and WIRE_NACK_HELD */
	uint32_t called;   /* with WIRE_NACK_WAIT: packets of the message that may come */
};

/* How what is refused so ends at whoever asked: an enum wire_nack, but RNR, to a status. */
int rltp_status_of_nack(uint32_t code);

/* The layer above. `user` is what the endpoint was created with. No call may destroy the session it
 * is called for. */
struct rltp_user_ops {
	/* Fills the extension fields and payload slices of bytes [offset, offset + bytes) of
	 * message m. The memory stays unchanged until `done`. */
	void (*fill)(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		     struct rltp_packet *out);
	/* The message's last packet was acknowledged, or the session ended, which then is idle
	 * already; the message is the poster's again. */
	void (*done)(void *user, struct rltp_session *s, struct rltp_message *m, int status);
	/* A packet arrived for the first time, in any order: place it now. Refused packets count as
	 * not arrived. */
	struct rltp_verdict (*deliver)(void *user, struct rltp_session *s,
				       const struct wire_header *header, const uint8_t *payload);
	/* The sender gave up the message of this header (it was refused before): nothing more of it
	 * will come. False: no memory to note it; the packet counts as not arrived. */
	bool (*aborted)(void *user, struct rltp_session *s, const struct wire_header *header);
	/* The session's past is void: peer restarted, died or was removed. All of its messages were
	 * reported done before. */
	void (*reset)(void *user, struct rltp_session *s, int status);
	/* Nothing has been under way for a while: memory that idle peers do not need can go. */
	void (*rest)(void *user, struct rltp_session *s);

	/* NAP credits: limits that only grow, one per queue pair, said again as often as need be.
	 * Fills in up to `count` limits that the peer has not been told; returns how many. */
	uint32_t (*grants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			   uint32_t count);
	/* The peer grants. */
	void (*granted)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
	/* Fills in up to `count` queue pairs of the peer for whose credit messages wait. */
	uint32_t (*wants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			  uint32_t count);
	/* The peer waits for credit of this queue pair and knows of this limit. */
	void (*asked)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
};

#endif
