/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair of the service RC, without I/O: messages of one packet (SEND only) in both
 * directions. Rules: InfiniBand specification, section 9.7; docs/reference/wire.md "Reliable
 * connections".
 *
 * Requester: go-back-N. Responder: accepts only the expected PSN; acknowledges the newest message
 * once per rc_qp_send() round, not each message. Not thread-safe. */
#ifndef RC_QP_H
#define RC_QP_H

#include "wire/roce.h"

struct rc_qp_options {
	uint32_t number;        /* 24 bits */
	uint32_t send_psn;      /* of the first own request */
	uint16_t window;        /* messages without acknowledgement: a power of two */
	uint16_t message_bytes; /* length of the longest message: at most the path MTU */
	uint8_t timeout;        /* code of the ACK timeout, 4.096 us << timeout; 0: none */
	uint8_t retry_count;    /* 0 .. 7 */
	uint8_t rnr_retry;      /* 0 .. 7; 7: unlimited */
	uint8_t rnr_code;       /* time in own RNR NAKs: roce_rnr_ns() */
};

struct rc_qp;

/* DXP_ENOMEM. */
int rc_qp_create(const struct rc_qp_options *options, struct rc_qp **out);
void rc_qp_destroy(struct rc_qp *q);

/* Sets the peer's number and first PSN. Before that, messages can be posted but not sent. */
void rc_qp_connect(struct rc_qp *q, uint32_t peer_number, uint32_t receive_psn);

/* Copies a message of two parts into the send queue. DXP_EAGAIN: the window is full. DXP_EPEERLOST:
 * the queue pair is in error. */
int rc_qp_post(struct rc_qp *q, const void *front, size_t front_bytes, const void *rest,
	       size_t rest_bytes);

/* Processes a received packet. Returns true if it is a message to deliver. `ready`: false if there
 * is no buffer for a message; the sender tries again after RNR NAK. */
bool rc_qp_receive(struct rc_qp *q, const struct roce_header *h, size_t payload_bytes, bool ready,
		   uint64_t now_ns);

/* Writes the next due packet. Returns false if there is none. *payload stays valid until its
 * message is acknowledged. */
bool rc_qp_send(struct rc_qp *q, struct roce_header *h, const uint8_t **payload,
		size_t *payload_bytes, uint64_t now_ns);

/* Returns when rc_qp_send() has a packet if none arrives; 0: now; UINT64_MAX: never. */
uint64_t rc_qp_deadline(const struct rc_qp *q);

/* Returns whether the queue pair is in error: retries are used up, or a NAK was fatal. */
bool rc_qp_failed(const struct rc_qp *q);

struct rc_qp_counters {
	uint64_t posted, delivered, repeated, duplicates, acks, naks, rnr_naks, timeouts;
};
struct rc_qp_counters rc_qp_counters(const struct rc_qp *q);

#endif
