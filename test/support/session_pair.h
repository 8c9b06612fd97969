/* SPDX-License-Identifier: BSD-3-Clause */
/* Two open sessions without endpoints, network or NIC: the test carries each datagram over, or does
 * not. Messages are numbers; what arrives is noted. */
#ifndef TEST_SESSION_PAIR_H
#define TEST_SESSION_PAIR_H

#include "rltp/session.h"

#define PAIR_UNIT     1024
#define PAIR_MESSAGES 8192

struct pair_end {
	struct rltp_shared shared;
	struct rltp_session *session;
	uint32_t done;                 /* messages ended */
	uint32_t delivered;            /* packets taken from the peer */
	uint32_t order[PAIR_MESSAGES]; /* the keys of what was delivered, in order */
	int last_status;               /* of the message that ended last */
	uint32_t refuse_key;           /* packets with this key are not taken ... */
	struct rltp_verdict refuse;    /* ... but answered so */
	uint32_t refuse_from;          /* but for the first so many of their message */
	uint32_t rested;               /* calls of ops->rest */
};

struct session_pair {
	struct pair_end ends[2];
	struct rltp_message messages[PAIR_MESSAGES];
	uint32_t keys[PAIR_MESSAGES];
	uint32_t posted;
	uint64_t now_ns;
	uint8_t payload[PAIR_UNIT];
};

/* Both ends with this tuning and window, open. Ends the test when memory is short. */
struct session_pair *pair_create(const struct rltp_tuning *tuning, uint32_t window);
void pair_destroy(struct session_pair *p);

/* Posts a message of `bytes` at `end`; its packets carry `key`. */
struct rltp_message *pair_post(struct session_pair *p, int end, uint8_t flow, uint32_t bytes,
			       uint32_t key);

/* What `end` sends now, up to `count`. */
size_t pair_send(struct session_pair *p, int end, struct link_datagram *out, size_t count);

/* Hands one datagram to the other end. */
void pair_deliver(struct session_pair *p, int from, const struct link_datagram *d);

/* Lets both ends talk without loss, time going on by itself, until neither has anything to do
 * before `until_ns`. */
void pair_settle(struct session_pair *p, uint64_t until_ns);

/* The decoded header of a datagram that a session made. */
struct wire_header pair_header(const struct link_datagram *d);

#endif
