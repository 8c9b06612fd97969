/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's membership in a fabric: joins, renews the lease, updates the node table,
 * works without the manager and rejoins. Pure: bytes and time go in, datagrams and a deadline come
 * out. Protocol: docs/guide/manager.md.
 *
 *   JOINING                  lease arrives                   -> JOINED
 *   JOINING                  join_timeout_ns has passed      -> FAILED
 *   JOINED                   lease expires                   -> ALONE
 *   ALONE                    lease arrives                   -> JOINED
 *   JOINING, JOINED, ALONE   final rejection                 -> FAILED
 *   JOINING, JOINED, ALONE   member_leave                    -> LEAVING; without an id: LEFT
 *   LEAVING                  answer arrives, or three tries  -> LEFT
 *
 * The first retry follows after 100 ms. Each later wait is 1.5 times the previous wait, at most 1 s
 * (0.2 s with a lease, 2 s when alone). Jitter varies a wait by up to a quarter. A lease is renewed
 * after a sixth of its time. An unauthenticated "wrong key" counts if no authentic answer arrives
 * within 300 ms. */
#ifndef NODE_MEMBER_H
#define NODE_MEMBER_H

#include "base/log.h"
#include "base/rng.h"
#include "keys/identity.h"
#include "link/udp.h"
#include "node/managers.h"
#include "node/reports.h"
#include "node/table.h"

enum member_state {
	MEMBER_JOINING,
	MEMBER_JOINED,
	MEMBER_ALONE,
	MEMBER_LEAVING,
	MEMBER_LEFT,
	MEMBER_FAILED
};

struct member_options {
	struct udp_address manager;
	struct manager_backups others; /* tried in order if `manager` is silent or stands by */
	uint8_t key[FABRIC_KEY_BYTES];
	/* The key pair that the manager has admitted; NULL: the node joins with `key`. Copied. */
	const struct identity *identity;
	/* Description of this node: uuid, kind, name, incarnation (larger at each start), engine,
	 * device, memory, magic. id: the previous id, which the manager assigns again if possible,
	 * or 0. address: set together with MANAGE_CAPABILITY_ADVERTISED; otherwise the manager
	 * reads it from the packet. */
	struct node_entry self;
	uint64_t join_timeout_ns; /* limit for the join; 0: FABRIC_JOIN_NS; UINT64_MAX: no limit */
	entropy_fn entropy;       /* random source of the nonce and of the jitter */
	void *entropy_context;
};

/* Numbers of discarded arrivals, by reason. */
struct member_counters {
	uint64_t malformed, damaged, unauthentic, stale, unexpected;
};

struct member;

/* A fabric key that an operator has put in the place of another, and the times in ns at which this
 * node sends with it, and at which it refuses the former one. */
struct member_rekey {
	uint32_t generation;
	uint8_t key[FABRIC_KEY_BYTES];
	uint64_t use_ns, former_until_ns;
};

/* Creates a member; destroy it with member_destroy. DXP_EINVAL: invalid name or kind; DXP_ENOMEM;
 * DXP_EIO. */
int member_create(const struct member_options *options, uint64_t now_ns, struct member **out);
void member_destroy(struct member *m);

/* Processes one management frame. */
void member_receive(struct member *m, const struct udp_address *from, const uint8_t *data,
		    size_t bytes, uint64_t now_ns);

/* Handles everything whose time has come, and fills `out` with at most `count` datagrams that are
 * due. Returns their number. They point to memory of the member and are valid until the next
 * call. */
size_t member_send(struct member *m, struct datagram *out, size_t count, uint64_t now_ns);

/* Returns the time in ns at which to call member_send again; UINT64_MAX after LEFT and FAILED. */
uint64_t member_deadline(const struct member *m);

/* Reports this node's new address to the manager at once. */
void member_moved(struct member *m, uint64_t now_ns);

/* Reports a change of a path to the manager, for its event log. */
void member_report(struct member *m, const struct path_change *change);

/* Uses another key pair, which the manager has admitted in place of the present one, from the next
 * request on. DXP_ENOMEM, DXP_EIO: the present one stays. */
int member_identity_set(struct member *m, const struct identity *identity, uint64_t now_ns);

/* Returns true and sets *out once for each new fabric key. The caller erases *out. */
bool member_rekeyed(struct member *m, struct member_rekey *out);
/* Takes this key again from the next LEASE, because the owner could not apply it. */
void member_rekey_again(struct member *m);

/* Returns true and writes a new public key of the manager, which the former one has authenticated.
 * It comes again with each LEASE until member_identity_set uses it. */
bool member_repinned(struct member *m, uint8_t key[KEYS_BYTES]);

/* Starts to leave the fabric. The state becomes LEFT after an answer or after three tries; at once
 * if the node has no id. */
void member_leave(struct member *m, uint64_t now_ns);

enum member_state member_state(const struct member *m);
/* Returns the node's id; WIRE_NODE_NONE before the first lease. */
uint16_t member_id(const struct member *m);
struct node_table *member_table(struct member *m);

/* Returns the reason of FAILED (DXP_EAUTH, DXP_ETIMEDOUT, DXP_EBUSY, DXP_EINVAL ...), otherwise
 * DXP_OK. */
int member_status(const struct member *m);
/* Returns the last message about the membership. After FAILED it states the reason and the next
 * step. Initially "". */
const char *member_text(const struct member *m);
/* Returns the other version of the wire format in which the manager answered; 0: none. */
uint8_t member_other_version(const struct member *m);

/* Returns a message to log (joined, alone, back, failed) and its level. Returns each message only
 * once; NULL: there is no new one. */
const char *member_notice(struct member *m, enum log_level *level);

const struct member_counters *member_counters(const struct member *m);

#endif
