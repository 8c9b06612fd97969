/* SPDX-License-Identifier: BSD-3-Clause */
/* Struct member, private to member*.c. */
#ifndef NODE_MEMBER_INTERNAL_H
#define NODE_MEMBER_INTERNAL_H

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"
#include "node/member.h"

#define MEMBER_RETRY_FIRST_NS (100 * MS_NS)
#define MEMBER_FLIGHTS        8 /* latest requests whose answers are still accepted */
#define MEMBER_TEXT_BYTES     320

struct member_flight {
	uint64_t request; /* number of the request; 0: none, or already answered */
	uint64_t sent_ns;
};

struct member {
	struct member_options options;
	struct mac *mac;
	uint8_t public_key[KEYS_BYTES];
	uint8_t pair[KEYS_BYTES]; /* secret shared with the manager, if `key` is not NULL */
	/* the last fabric key of a LEASE; generation 0: none */
	struct member_rekey rekey;
	bool rekey_new;
	bool repin_new; /* `repin` is to be returned */
	uint8_t repin[KEYS_BYTES];
	const uint8_t *key; /* public_key, or NULL if the node joins with the fabric key */
	struct node_table *table;
	struct member_counters counters;
	enum member_state state;
	int status;
	enum log_level notice_level;
	bool notice;    /* member_notice has not yet returned `text` */
	bool need_join; /* the manager has no entry of this node: send JOIN, not RENEW */
	bool ack_due;
	bool key_doubt_reported;
	uint16_t id;
	uint64_t run; /* epoch of the manager, from its last answer; 0: none */
	/* random number of this membership; last request number; newest request number answered */
	uint64_t nonce, request, answered;
	struct member_flight flights[MEMBER_FLIGHTS];
	uint64_t join_until_ns, lease_until_ns, renew_ns;
	uint64_t send_ns, retry_ns; /* time of the next request; wait before the request after it */
	/* arrival time of a "wrong key" rejection; 0: none, or disproved */
	uint64_t rejected_key_ns;
	/* the manager's version of the wire format; 0: the same as this node's */
	uint8_t other_version;
	/* Expiry of the other lease on this node's identity, as reported in the first rejection; 0:
	 * none. */
	uint64_t busy_until_ns;
	uint64_t busy_epoch; /* epoch of the manager that reported this lease */
	unsigned leave_tries;
	unsigned unanswered; /* requests since the last answer, or since the manager was chosen */
	char text[MEMBER_TEXT_BYTES];
	/* text of the last authentic rejection that may be temporary */
	char rejection[MANAGE_TEXT_BYTES];
	int rejection_status;
	struct reports reports;
	uint8_t request_frame[MANAGE_FRAME_BYTES], ack_frame[MANAGE_FRAME_BYTES];
	uint8_t report_frame[MANAGE_FRAME_BYTES];
};

/* Stores a message that member_notice returns once. */
void member_log(struct member *m, enum log_level level, const char *format, ...) PRINTF_LIKE(3, 4);
/* Makes the state FAILED, with this reason, and stores the message as an error. */
void member_fail(struct member *m, int status, const char *format, ...) PRINTF_LIKE(3, 4);

/* Makes the next request due at `at_ns`, and the wait before its first retry short again. */
void member_request_at(struct member *m, uint64_t at_ns);

/* Writes the address of the present manager. Returns `out`. */
const char *member_manager_text(const struct member *m, char out[UDP_ADDRESS_TEXT_BYTES]);

#endif
