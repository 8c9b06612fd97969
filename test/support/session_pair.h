/* SPDX-License-Identifier: BSD-3-Clause */
/* Two open sessions without endpoints, network or NIC. The test delivers or drops each datagram. A
 * message carries only a number, its key; arrivals are recorded. */
#ifndef TEST_SESSION_PAIR_H
#define TEST_SESSION_PAIR_H

#include "rltp/internal.h"
#include "rltp/session.h"

#define PAIR_UNIT     1024
#define PAIR_MESSAGES 8192

struct pair_end {
	struct rltp_shared shared;
	struct rltp_session *session;
	uint32_t done;                 /* completed messages */
	uint32_t delivered;            /* packets accepted from the peer */
	uint32_t order[PAIR_MESSAGES]; /* keys of the delivered packets */
	int last_status;               /* of the last completed message */
	uint32_t reject_key;           /* of the packets that this end rejects */
	struct rltp_verdict reject;    /* answer to packets with `reject_key` */
	/* packets of a message with `reject_key` that are accepted first */
	uint32_t reject_from;
	uint32_t rested; /* calls of ops->rest */
};

struct session_pair {
	struct pair_end ends[2];
	struct rltp_message messages[PAIR_MESSAGES];
	uint32_t keys[PAIR_MESSAGES];
	uint32_t posted;
	uint64_t now_ns;
	uint8_t payload[PAIR_UNIT];
};

/* Fails the test if out of memory. */
struct session_pair *pair_create(const struct rltp_tuning *tuning, uint32_t window);
void pair_destroy(struct session_pair *p);

/* Posts `bytes` at the session `end`, in packets with `key`. */
struct rltp_message *pair_post(struct session_pair *p, int end, uint8_t flow, uint32_t bytes,
			       uint32_t key);

/* Writes up to `count` datagrams that the session sends now. Returns their number. */
size_t pair_send(struct session_pair *p, int end, struct datagram *out, size_t count);

void pair_deliver(struct session_pair *p, int from, const struct datagram *d);

/* Exchanges datagrams without loss and advances time, until neither session has work before
 * `until_ns`. */
void pair_settle(struct session_pair *p, uint64_t until_ns);

struct wire_header pair_header(const struct datagram *d);

#endif
