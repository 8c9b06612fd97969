/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of one or more packets: the interface between NIC and RLTP. RLTP requests header fields
 * and payload at each transmission, so nothing is copied. */
#ifndef RLTP_MESSAGE_H
#define RLTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "rltp/limits.h"
#include "wire/frame.h"

struct rltp_session;

/* The control flow goes first. Channels share the endpoint by weight, their queues share a channel
 * equally. */
#define RLTP_FLOW_CONTROL         0
#define RLTP_FLOW(channel, queue) ((uint8_t)(1 + (channel)*RLTP_CHANNEL_QUEUES + (queue)))

struct rltp_message {
	/* set by the poster */
	uint8_t type; /* a type that RLTP delivers reliably */
	uint8_t flow;
	/* WIRE_FLAG_SOL, FENCE, IMM, TRAILER; IMM and TRAILER go into the last packet */
	uint16_t flags;
	uint32_t bytes;
	/* used by RLTP until ops->done */
	struct rltp_message *next;
	uint32_t unit;         /* payload of each packet but the last */
	uint32_t packet_count; /* set when the first packet is built */
	/* Datagrams that each packet fills on the path; above 1 for long frames. Windows and
	 * congestion control count weights. */
	uint16_t weight;
	uint32_t next_sub; /* packets built so far */
	uint32_t unacked;  /* packets built and unacknowledged */
	uint32_t granted;  /* limit by the receiver; UINT32_MAX: none */
	bool waits;        /* only `granted` packets may be sent */
	/* identify the message in NACKs; set with its first packet */
	uint16_t index;
	uint32_t msg_id;
	/* If not DXP_OK, the message was rejected or cancelled, and its remaining packets are
	 * RESYNC. */
	int status;
};

/* ops->fill sets slices and the header's data extension. */
struct rltp_packet {
	struct wire_header header;
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
	uint8_t slice_count;
};

/* Decision of the layer above about a packet. `code` 0: accepted.
 *
 * WIRE_NACK_HELD: the payload is complete, but a device has not read it yet, which is no loss. The
 * sender retransmits after retry_us, unless rltp_session_accept() or _reject() completes the packet
 * before.
 *
 * WIRE_NACK_WAIT: no space. The sender sends only granted packets of this message. The layer above
 * grants more by rltp_session_call(). */
struct rltp_verdict {
	uint8_t code; /* enum wire_nack */
	/* RNR, HELD: pause until the retransmission */
	uint32_t retry_us;
	uint32_t granted; /* WAIT: granted packets of the message */
};

int rltp_status_of_nack(uint32_t code);

/* Callbacks into the layer above. They must not destroy the session. */
struct rltp_user_ops {
	/* Fills extension fields and slices of bytes [offset, offset + bytes). Their memory must
	 * not change until `done`. */
	void (*fill)(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		     struct rltp_packet *out);
	/* Returns a message: all packets were acknowledged, or the session closed and is in state
	 * RLTP_IDLE. */
	void (*done)(void *user, struct rltp_session *s, struct rltp_message *m, int status);
	/* Places a payload at its first arrival, in any order. A rejected packet counts as not
	 * arrived. */
	struct rltp_verdict (*deliver)(void *user, struct rltp_session *s,
				       const struct wire_header *header, const uint8_t *payload);
	/* The sender cancelled this message. False: out of memory; the packet counts as not
	 * arrived. */
	bool (*aborted)(void *user, struct rltp_session *s, const struct wire_header *header);
	/* The session closed; follows `done` of all its messages. */
	void (*reset)(void *user, struct rltp_session *s, int status);
	void (*rest)(void *user, struct rltp_session *s);

	/* Writes up to `count` NAP credit limits, one per queue pair, that the peer has not
	 * received; returns their number. Limits only grow, so they may be sent again. */
	uint32_t (*grants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			   uint32_t count);
	void (*granted)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
	/* Writes up to `count` queue pairs of the peer whose credit messages wait for; returns
	 * their number. */
	uint32_t (*wants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			  uint32_t count);
	/* The peer has this limit and waits for a higher one. */
	void (*requested)(void *user, struct rltp_session *s,
			  const struct wire_credit_entry *credit);
};

#endif
