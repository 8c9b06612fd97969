/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between NIC and RLTP: a message of 1 .. n packets. RLTP keeps only (message, index) per
 * packet in flight. It requests header fields and payload again for each transmission, so nothing
 * is copied or kept twice. */
#ifndef RLTP_MESSAGE_H
#define RLTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "rltp/limits.h"
#include "wire/frame.h"

struct rltp_session;

/* Flow of a message. Control is always served first. Channels share by weight, the queues of one
 * channel equally; both count bytes. */
#define RLTP_FLOW_CONTROL         0
#define RLTP_FLOW(channel, queue) ((uint8_t)(1 + (channel)*RLTP_CHANNEL_QUEUES + (queue)))

struct rltp_message {
	/* Set by the poster before rltp_session_post. */
	uint8_t type; /* enum wire_type, a reliable one */
	uint8_t flow; /* RLTP_FLOW_CONTROL or RLTP_FLOW(channel, queue) */
	/* WIRE_FLAG_SOL, FENCE, IMM, TRAILER; the last two only in the last packet. */
	uint16_t flags;
	uint32_t bytes; /* total payload; may be 0 */
	/* RLTP's from rltp_session_post to ops->done. */
	struct rltp_message *next;
	uint32_t unit;         /* payload bytes of each packet but the last */
	uint32_t packet_count; /* set when the first packet is built */
	uint32_t next_sub;     /* packets built so far */
	uint32_t unacked;      /* packets built and not acknowledged */
	uint32_t granted;      /* packets that the receiver has granted; UINT32_MAX: all */
	bool waits;            /* the receiver has set `granted` */
	/* With msg_id, the name of the message in the peer's NACKs; set with its first packet. */
	uint16_t index;
	uint32_t msg_id;
	/* DXP_OK, or why it was rejected or cancelled: the rest is then sent as RESYNC. */
	int status;
};

/* One packet of a message. The poster fills the payload slices and, in `header`, the fields of the
 * data extension. */
struct rltp_packet {
	struct wire_header header;
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
	uint8_t slice_count;
};

/* Answer of the layer above to a packet; code 0: accepted.
 *
 * WIRE_NACK_HELD: the payload is complete, but a device has not read it yet. The sender neither
 * counts the packet as lost nor stops the flow. It retransmits after retry_us unless
 * rltp_session_accept() or rltp_session_refuse() has completed the packet before.
 *
 * WIRE_NACK_WAIT: rejected for lack of space; the layer above keeps a list of such messages. It
 * grants packets with rltp_session_call() when there is space. Until then the sender sends only the
 * granted packets of the message. */
struct rltp_verdict {
	uint8_t code;      /* enum wire_nack */
	uint32_t retry_us; /* us, for WIRE_NACK_RNR and WIRE_NACK_HELD */
	uint32_t granted;  /* for WIRE_NACK_WAIT: packets of the message granted */
};

/* Returns the status with which the sender completes a message rejected with `code` (enum
 * wire_nack, not RNR). */
int rltp_status_of_nack(uint32_t code);

/* Callbacks into the layer above. `user` comes from the endpoint's options. A callback must not
 * destroy the session of its call. */
struct rltp_user_ops {
	/* Fills the extension fields and payload slices of bytes [offset, offset + bytes) of
	 * message m. The memory must not change until `done`. */
	void (*fill)(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		     struct rltp_packet *out);
	/* Completes a message: its last packet was acknowledged, or the session closed and is
	 * already in state RLTP_IDLE. The poster owns the message again. */
	void (*done)(void *user, struct rltp_session *s, struct rltp_message *m, int status);
	/* Places a packet that arrived for the first time; packets come in any order. A rejected
	 * packet counts as not arrived. */
	struct rltp_verdict (*deliver)(void *user, struct rltp_session *s,
				       const struct wire_header *header, const uint8_t *payload);
	/* Notes that the sender cancelled the message of this header, after a rejection or by
	 * itself: no more of it follows. False: no memory; the packet counts as not arrived. */
	bool (*aborted)(void *user, struct rltp_session *s, const struct wire_header *header);
	/* Notes that the session closed: the peer restarted, died or was removed. `done` was called
	 * for all of its messages before. */
	void (*reset)(void *user, struct rltp_session *s, int status);
	/* Frees memory that an idle peer does not need. */
	void (*rest)(void *user, struct rltp_session *s);

	/* Fills in up to `count` NAP credit limits that the peer has not received; returns their
	 * number. Limits only grow, one per queue pair, and may be sent repeatedly. */
	uint32_t (*grants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			   uint32_t count);
	/* Receives a limit that the peer granted. */
	void (*granted)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
	/* Fills in up to `count` queue pairs of the peer for whose credit messages wait; returns
	 * their number. */
	uint32_t (*wants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			  uint32_t count);
	/* Notes that the peer waits for credit of this queue pair and has received this limit. */
	void (*requested)(void *user, struct rltp_session *s,
			  const struct wire_credit_entry *credit);
};

#endif
