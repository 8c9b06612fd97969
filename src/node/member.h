/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's membership in a fabric: joins, renews its lease, keeps its copy of the node
 * table fresh, goes on alone while the manager is away and joins again by itself. Pure: bytes and
 * the time go in, datagrams and a deadline come out. docs/manager.md tells the protocol.
 *
 *   JOINING --lease--> JOINED --lease runs out--> ALONE --lease--> JOINED
 *      |                  |                         |
 *      +--refused, or too late--> FAILED <--another node took our identity
 *   any but FAILED --member_leave--> LEAVING --answer or three tries--> LEFT
 *
 * Timers: a request goes out 100 ms after the one before it was not answered, then 1.5 times later
 * each time, to 1 s (0.2 s while a lease runs out, 2 s when alone), each moved by up to a quarter
 * at random; a lease is renewed after a sixth of it. An unauthenticated "wrong key" is believed
 * when nothing authentic has come for 300 ms. */
#ifndef NODE_MEMBER_H
#define NODE_MEMBER_H

#include "base/log.h"
#include "base/rng.h"
#include "link/udp.h"
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
	struct wire_address manager;
	uint8_t key[FABRIC_KEY_BYTES];
	/* Who we are: uuid, kind, name, incarnation (larger at each start), engine, device, memory,
	 * magic. id: the one held before, or 0; the manager gives it again where it can. address:
	 * not used, the manager sees it. */
	struct node_entry self;
	uint64_t join_timeout_ns; /* 0: FABRIC_JOIN_NS; UINT64_MAX: try for ever while nobody
				     answers */
	entropy_fn entropy;       /* for the nonce and for jitter */
	void *entropy_context;
};

/* What arrived and was not used, by reason. */
struct member_counters {
	uint64_t malformed, damaged, unauthentic, stale, unexpected;
};

struct member;

/* On success *out must be destroyed. DXP_EINVAL: a name or kind that no manager would take;
 * DXP_ENOMEM; DXP_EIO. */
int member_create(const struct member_options *options, uint64_t now_ns, struct member **out);
void member_destroy(struct member *m);

/* Takes one management frame; `data` is only read during the call. */
void member_receive(struct member *m, const struct wire_address *from, const uint8_t *data,
		    size_t bytes, uint64_t now_ns);

/* Fills `out` with the datagrams due now, up to `count`; also moves the state where only time has
 * passed. Their memory is the member's: valid until the next call of member_send. Returns how many.
 */
size_t member_send(struct member *m, struct link_datagram *out, size_t count, uint64_t now_ns);

/* When member_send must be called again; UINT64_MAX after LEFT and FAILED. */
uint64_t member_deadline(const struct member *m);

/* The own address has changed: the manager is told at once. */
void member_moved(struct member *m, uint64_t now_ns);

/* Begins to leave; the state is LEFT when the manager knows or was told three times. */
void member_leave(struct member *m, uint64_t now_ns);

enum member_state member_state(const struct member *m);
uint16_t member_id(const struct member *m); /* WIRE_NODE_NONE before the first lease */
struct node_table *member_table(struct member *m);

/* After FAILED: why. DXP_EAUTH, DXP_ETIMEDOUT, DXP_EBUSY, DXP_EINVAL ...; otherwise DXP_OK. */
int member_status(const struct member *m);
/* The last sentence told, after FAILED the one to the status, with the next step; "" at first. */
const char *member_text(const struct member *m);

/* What the owner should log, once per event (joined, alone, back, failed); NULL when there is
 * nothing new. */
const char *member_notice(struct member *m, enum log_level *level);

const struct member_counters *member_counters(const struct member *m);

#endif
