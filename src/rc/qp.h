/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair of the service RC, without I/O. Each message is one packet (SEND only). See the
 * InfiniBand specification, section 9.7, and docs/reference/wire.md "Reliable connections".
 *
 * The requester sends by go-back-N. The responder accepts only the expected PSN, and acknowledges
 * the newest message once per round of rc_qp_send(). Not thread-safe. */
#ifndef RC_QP_H
#define RC_QP_H

#include "wire/roce.h"

struct rc_qp_options {
	uint32_t number;        /* number of the queue pair, 24 bits */
	uint32_t send_psn;      /* PSN of the first request sent */
	uint16_t window;        /* most messages without acknowledgement, a power of two */
	uint16_t message_bytes; /* length of the longest message, at most the path MTU */
	uint8_t timeout;        /* ACK timeout, 4.096 us << timeout; 0: there is none */
	uint8_t retry_count;    /* retries after a timeout or NAK, 0 .. 7 */
	uint8_t rnr_retry;      /* retries after RNR NAKs, 0 .. 7; 7: unlimited */
	/* code of the wait time in RNR NAKs that this side sends, see roce_rnr_ns() */
	uint8_t rnr_code;
};

struct rc_qp;

/* Creates a queue pair; destroy it with rc_qp_destroy(). DXP_ENOMEM. */
int rc_qp_create(const struct rc_qp_options *options, struct rc_qp **out);
void rc_qp_destroy(struct rc_qp *q);

/* Sets the peer's number and the PSN of its first message. Before this, messages can be posted but
 * not sent. */
void rc_qp_connect(struct rc_qp *q, uint32_t peer_number, uint32_t receive_psn);

/* Posts a message that consists of two parts, and copies both. DXP_EAGAIN: the window is full;
 * DXP_EPEERLOST: the queue pair has failed. */
int rc_qp_post(struct rc_qp *q, const void *front, size_t front_bytes, const void *rest,
	       size_t rest_bytes);

/* Processes a packet. Returns true for a message to deliver. If `ready` is false, the caller has no
 * buffer; the sender gets an RNR NAK and sends the message again. */
bool rc_qp_receive(struct rc_qp *q, const struct roce_header *h, size_t payload_bytes, bool ready,
		   uint64_t now_ns);

/* Writes the next due packet; returns false if there is none. *payload stays valid until it is
 * acknowledged. */
bool rc_qp_send(struct rc_qp *q, struct roce_header *h, const uint8_t **payload,
		size_t *payload_bytes, uint64_t now_ns);

/* Returns the time in ns at which to call rc_qp_send() even without an arrival; 0: now;
 * UINT64_MAX: never. */
uint64_t rc_qp_deadline(const struct rc_qp *q);

/* Returns true if retries are used up, or a NAK was fatal. */
bool rc_qp_failed(const struct rc_qp *q);

struct rc_qp_counters {
	uint64_t posted, delivered, repeated, duplicates, acks, naks, rnr_naks, timeouts;
};
struct rc_qp_counters rc_qp_counters(const struct rc_qp *q);

#endif
