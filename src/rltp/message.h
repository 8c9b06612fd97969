/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between NIC and RLTP: a message of 1 .. n packets. Per packet in flight, RLTP keeps
 * only (message, index). It requests header fields and payload again for each transmission, so
 * nothing is copied. */
#ifndef RLTP_MESSAGE_H
#define RLTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "rltp/limits.h"
#include "wire/frame.h"

struct rltp_session;

/* Flow of a message. Control always goes first. Channels share by weight, the queues of a channel
 * equally; both count bytes. */
#define RLTP_FLOW_CONTROL         0
#define RLTP_FLOW(channel, queue) ((uint8_t)(1 + (channel)*RLTP_CHANNEL_QUEUES + (queue)))

struct rltp_message {
	/* Set by the poster before rltp_session_post. */
	uint8_t type; /* enum wire_type, a reliable one */
	uint8_t flow; /* RLTP_FLOW_CONTROL or RLTP_FLOW(channel, queue) */
	/* WIRE_FLAG_SOL, FENCE, IMM, TRAILER; IMM and TRAILER appear only in the last packet. */
	uint16_t flags;
	uint32_t bytes; /* total payload; may be 0 */
	/* Fields of RLTP from rltp_session_post to ops->done. */
	struct rltp_message *next;
	uint32_t unit;         /* payload bytes of all packets but the last */
	uint32_t packet_count; /* set when the first packet is built */
	uint32_t next_sub;     /* packets built so far */
	uint32_t unacked;      /* packets built and not acknowledged */
	uint32_t granted;      /* packets that the receiver grants; UINT32_MAX: all */
	bool waits;            /* the receiver has limited the message by `granted` */
	/* Identifies the message in the peer's NACKs, together with msg_id; set with the first
	 * packet. */
	uint16_t index;
	uint32_t msg_id;
	/* DXP_OK, or why it was rejected or cancelled; in that case its remaining packets are sent
	 * as RESYNC. */
	int status;
};

/* One packet of a message. ops->fill sets the payload slices and the header's data extension. */
struct rltp_packet {
	struct wire_header header;
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
	uint8_t slice_count;
};

/* Answer of the layer above to a packet; code 0: accepted.
 *
 * WIRE_NACK_HELD: the payload is complete, but a device has not read it yet. The sender does not
 * count the packet as lost and does not stop the flow. It retransmits after retry_us, unless
 * rltp_session_accept() or rltp_session_reject() completes the packet before.
 *
 * WIRE_NACK_WAIT: rejected for lack of space. The layer above lists such messages and grants
 * packets with rltp_session_call() when there is space. Until then the sender sends only granted
 * packets. */
struct rltp_verdict {
	uint8_t code;      /* enum wire_nack */
	uint32_t retry_us; /* pause for WIRE_NACK_RNR and WIRE_NACK_HELD */
	uint32_t granted;  /* WIRE_NACK_WAIT: granted packets of the message */
};

/* Returns the status of a message that was rejected with `code` (enum wire_nack, not RNR). */
int rltp_status_of_nack(uint32_t code);

/* Callbacks into the layer above; `user` comes from the endpoint's options. A callback must not
 * destroy its session. */
struct rltp_user_ops {
	/* Fills the extension fields and payload slices of bytes [offset, offset + bytes) of
	 * message m. The memory must not change until `done`. */
	void (*fill)(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		     struct rltp_packet *out);
	/* Completes a message and returns it to the poster: its last packet was acknowledged, or
	 * the session closed and is in state RLTP_IDLE. */
	void (*done)(void *user, struct rltp_session *s, struct rltp_message *m, int status);
	/* Places a packet at its first arrival, in any order. A rejected packet counts as not
	 * arrived. */
	struct rltp_verdict (*deliver)(void *user, struct rltp_session *s,
				       const struct wire_header *header, const uint8_t *payload);
	/* Notes that the sender cancelled the message of this header; the rest will not arrive.
	 * False: no memory, and the packet counts as not arrived. */
	bool (*aborted)(void *user, struct rltp_session *s, const struct wire_header *header);
	/* Notes that the session closed: the peer restarted, died or was removed. Follows `done`
	 * for all messages of the session. */
	void (*reset)(void *user, struct rltp_session *s, int status);
	/* Frees memory that an idle peer does not need. */
	void (*rest)(void *user, struct rltp_session *s);

	/* Fills in up to `count` NAP credit limits that the peer has not received, and returns
	 * their number. Limits only grow, one per queue pair, and may be sent again. */
	uint32_t (*grants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			   uint32_t count);
	/* Receives a limit granted by the peer. */
	void (*granted)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
	/* Fills in up to `count` queue pairs of the peer whose credit messages wait for, and
	 * returns their number. */
	uint32_t (*wants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			  uint32_t count);
	/* Notes that the peer has this limit for the queue pair and waits for more. */
	void (*requested)(void *user, struct rltp_session *s,
			  const struct wire_credit_entry *credit);
};

#endif
