/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair of the service RC, without I/O. Each message is one packet (SEND only), in both
 * directions. Rules: InfiniBand specification, section 9.7; docs/reference/wire.md "Reliable
 * connections".
 *
 * Requester: go-back-N. Responder: accepts only the expected PSN. Acknowledges the newest message
 * once per round of rc_qp_send() calls, not each message. Not thread-safe. */
#ifndef RC_QP_H
#define RC_QP_H

#include "wire/roce.h"

struct rc_qp_options {
	uint32_t number;        /* number of this queue pair, 24 bits */
	uint32_t send_psn;      /* packet number (PSN) of the first request that this side sends */
	uint16_t window;        /* messages without acknowledgement: a power of two */
	uint16_t message_bytes; /* length of the longest message: at most the path MTU */
	uint8_t timeout;        /* code of the ACK timeout, 4.096 us << timeout; 0: none */
	uint8_t retry_count;    /* retries after a timeout or a NAK, 0 .. 7 */
	uint8_t rnr_retry;      /* retries after RNR NAKs, 0 .. 7; 7: unlimited */
	/* code of the wait time in RNR NAKs of this side; roce_rnr_ns() converts it */
	uint8_t rnr_code;
};

struct rc_qp;

/* Errors: DXP_ENOMEM. */
int rc_qp_create(const struct rc_qp_options *options, struct rc_qp **out);
void rc_qp_destroy(struct rc_qp *q);

/* Sets the peer's number and first PSN. Before that, messages can be posted but not sent. */
void rc_qp_connect(struct rc_qp *q, uint32_t peer_number, uint32_t receive_psn);

/* Copies a message of two parts into the send queue. DXP_EAGAIN: the window is full. DXP_EPEERLOST:
 * the queue pair is in error. */
int rc_qp_post(struct rc_qp *q, const void *front, size_t front_bytes, const void *rest,
	       size_t rest_bytes);

/* Processes a received packet. Returns true if the packet is a message to deliver. `ready` is false
 * if the caller has no buffer for a message. The sender then receives an RNR NAK and sends the
 * message again later. */
bool rc_qp_receive(struct rc_qp *q, const struct roce_header *h, size_t payload_bytes, bool ready,
		   uint64_t now_ns);

/* Writes the next due packet. Returns false if no packet is due. *payload stays valid until the
 * peer acknowledges its message. */
bool rc_qp_send(struct rc_qp *q, struct roce_header *h, const uint8_t **payload,
		size_t *payload_bytes, uint64_t now_ns);

/* Returns the time when rc_qp_send() must be called again even if no packet arrives; 0: now;
 * UINT64_MAX: never. */
uint64_t rc_qp_deadline(const struct rc_qp *q);

/* Returns whether the queue pair is in error: retries are used up, or a NAK was fatal. */
bool rc_qp_failed(const struct rc_qp *q);

struct rc_qp_counters {
	uint64_t posted, delivered, repeated, duplicates, acks, naks, rnr_naks, timeouts;
};
struct rc_qp_counters rc_qp_counters(const struct rc_qp *q);

#endif
