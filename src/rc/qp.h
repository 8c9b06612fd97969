/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair of the service RC, without I/O; each message is one packet (SEND only). InfiniBand
 * specification, section 9.7; docs/reference/wire.md "Reliable connections".
 *
 * Requester: go-back-N. Responder: only the expected PSN; acknowledges the newest message once per
 * round of rc_qp_send(). Not thread-safe. */
#ifndef RC_QP_H
#define RC_QP_H

#include "wire/roce.h"

struct rc_qp_options {
	uint32_t number;        /* 24 bits */
	uint32_t send_psn;      /* PSN of the first request sent */
	uint16_t window;        /* messages without acknowledgement: a power of two */
	uint16_t message_bytes; /* longest: at most the path MTU */
	uint8_t timeout;        /* ACK timeout, 4.096 us << timeout; 0: none */
	uint8_t retry_count;    /* after a timeout or NAK, 0 .. 7 */
	uint8_t rnr_retry;      /* after RNR NAKs, 0 .. 7; 7: unlimited */
	/* wait time in own RNR NAKs, see roce_rnr_ns() */
	uint8_t rnr_code;
};

struct rc_qp;

/* Errors: DXP_ENOMEM. */
int rc_qp_create(const struct rc_qp_options *options, struct rc_qp **out);
void rc_qp_destroy(struct rc_qp *q);

/* Sets number and first PSN. Before this, messages can be posted but not sent. */
void rc_qp_connect(struct rc_qp *q, uint32_t peer_number, uint32_t receive_psn);

/* Copies both parts. DXP_EAGAIN: the window is full; DXP_EPEERLOST: in error. */
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

/* Returns when rc_qp_send() must be called without an arrival; 0: now; UINT64_MAX: never. */
uint64_t rc_qp_deadline(const struct rc_qp *q);

/* Returns true if retries are used up, or a NAK was fatal. */
bool rc_qp_failed(const struct rc_qp *q);

struct rc_qp_counters {
	uint64_t posted, delivered, repeated, duplicates, acks, naks, rnr_naks, timeouts;
};
struct rc_qp_counters rc_qp_counters(const struct rc_qp *q);

#endif
