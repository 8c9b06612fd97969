/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between NIC and RLTP: a message of one or more packets. For each packet in flight, RLTP
 * keeps only the message and an index. For each transmission it requests header fields and payload
 * again, so nothing is copied. */
#ifndef RLTP_MESSAGE_H
#define RLTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "rltp/limits.h"
#include "wire/frame.h"

struct rltp_session;

/* Flow of a message. The control flow always goes first. Channels share the endpoint by weight, and
 * the queues of a channel share it equally; both are measured in bytes. */
#define RLTP_FLOW_CONTROL         0
#define RLTP_FLOW(channel, queue) ((uint8_t)(1 + (channel)*RLTP_CHANNEL_QUEUES + (queue)))

struct rltp_message {
	/* Set by the poster before rltp_session_post: */
	uint8_t type; /* enum wire_type; a type that RLTP delivers reliably */
	uint8_t flow; /* RLTP_FLOW_CONTROL or RLTP_FLOW(channel, queue) */
	/* WIRE_FLAG_SOL, FENCE, IMM, TRAILER. Only the last packet carries IMM and TRAILER. */
	uint16_t flags;
	uint32_t bytes; /* total payload bytes; may be 0 */
	/* Used by RLTP from rltp_session_post to ops->done: */
	struct rltp_message *next;
	uint32_t unit;         /* payload bytes of each packet except the last */
	uint32_t packet_count; /* set when the first packet is built */
	uint32_t next_sub;     /* packets built so far */
	uint32_t unacked;      /* packets built and not acknowledged */
	uint32_t granted;      /* packets that the receiver has granted; UINT32_MAX: no limit */
	bool waits;            /* true: the receiver has limited the message to `granted` packets */
	/* With msg_id, identifies the message in the peer's NACKs. Set when the first packet is
	 * built. */
	uint16_t index;
	uint32_t msg_id;
	/* DXP_OK, or the reason why the message was rejected or cancelled. In that case, its
	 * remaining packets are sent as RESYNC. */
	int status;
};

/* One packet of a message. ops->fill sets the payload slices and the header's data extension. */
struct rltp_packet {
	struct wire_header header;
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
	uint8_t slice_count;
};

/* Decision of the layer above about a packet. `code` 0: accepted.
 *
 * WIRE_NACK_HELD: the payload is complete, but a device has not read it yet. The sender does not
 * count the packet as lost and does not stop the flow. It retransmits the packet after retry_us,
 * unless rltp_session_accept() or rltp_session_reject() completes it before.
 *
 * WIRE_NACK_WAIT: rejected for lack of space. The layer above keeps a list of such messages. When
 * there is space, it grants packets with rltp_session_call(). Until then, the sender sends only
 * granted packets of this message. */
struct rltp_verdict {
	uint8_t code; /* enum wire_nack */
	/* pause until the sender retransmits, for WIRE_NACK_RNR and WIRE_NACK_HELD */
	uint32_t retry_us;
	uint32_t granted; /* for WIRE_NACK_WAIT: number of granted packets of the message */
};

/* Returns the status of a message that was rejected for good with `code` (enum wire_nack, not
 * RNR). */
int rltp_status_of_nack(uint32_t code);

/* Callbacks into the layer above. `user` comes from the endpoint's options. A callback must not
 * destroy its session. */
struct rltp_user_ops {
	/* Fills the extension fields and payload slices of bytes [offset, offset + bytes) of
	 * message m. The memory must not change until `done`. */
	void (*fill)(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		     struct rltp_packet *out);
	/* Completes a message and returns it to the poster. Either all its packets were
	 * acknowledged, or the session closed and is in state RLTP_IDLE. */
	void (*done)(void *user, struct rltp_session *s, struct rltp_message *m, int status);
	/* Places the payload of a packet at its first arrival, in any order. A packet that it
	 * rejects counts as not arrived. */
	struct rltp_verdict (*deliver)(void *user, struct rltp_session *s,
				       const struct wire_header *header, const uint8_t *payload);
	/* Notes that the sender cancelled the message of this header, so the rest will not arrive.
	 * Returns false if memory is short; then the packet counts as not arrived. */
	bool (*aborted)(void *user, struct rltp_session *s, const struct wire_header *header);
	/* Notes that the session closed: the peer restarted, died or was removed. Called after
	 * `done` for all messages of the session. */
	void (*reset)(void *user, struct rltp_session *s, int status);
	/* Frees memory that is not needed while the session is idle. */
	void (*rest)(void *user, struct rltp_session *s);

	/* Writes up to `count` NAP credit limits that the peer has not received, and returns their
	 * number. There is one limit per queue pair. It only grows, so it may be sent again. */
	uint32_t (*grants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			   uint32_t count);
	/* Receives a credit limit from the peer. */
	void (*granted)(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);
	/* Writes up to `count` queue pairs of the peer for which messages wait for credit, and
	 * returns their number. */
	uint32_t (*wants)(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			  uint32_t count);
	/* Notes that the peer has this limit for the queue pair and waits for a higher one. */
	void (*requested)(void *user, struct rltp_session *s,
			  const struct wire_credit_entry *credit);
};

#endif
