/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's registry: assigns ids and leases, keeps the node table, sends each node the
 * part that it may see, and holds the grants. Pure state machine. Input: datagrams and time.
 * Output: datagrams, a deadline, and changes to store. Protocol: docs/guide/manager.md.
 *
 * Ids survive a crash if the caller keeps this order: registry_receive, store the changes of
 * registry_next_store, send the datagrams of registry_send. Memory is bounded for any input:
 * FABRIC_NODES_MAX nodes, FABRIC_GRANTS_MAX grants, one ring of datagrams. */
#ifndef MANAGER_REGISTRY_H
#define MANAGER_REGISTRY_H

#include "base/rng.h"
#include "link/udp.h"
#include "manager/event_journal.h"
#include "manager/fabric_rotation.h"
#include "manager/grants.h"
#include "manager/keyring.h"
#include "manager/roster.h"
#include "manager/tokens.h"

enum admission {
	/* a program with the fabric key may join, read the table and change grants */
	ADMIT_KEY,
	/* only a key that a token admitted may join, read the table or change grants, as far as its
	 * role permits */
	ADMIT_TOKEN,
};

struct registry_options {
	uint8_t key[FABRIC_KEY_BYTES];
	uint8_t private_key[KEYS_BYTES]; /* the private key of this manager */
	enum admission admission;
	enum grants_policy policy;
	uint64_t lease_ns;  /* 0: FABRIC_LEASE_NS */
	entropy_fn entropy; /* random source for the epoch and for handshakes */
	void *entropy_context;
	/* Returns ms since 1970, for the expiry of tokens and for events; NULL: the time is always
	 * 0. */
	uint64_t (*wall_ms)(void *context);
	void *wall_context;
	/* Stores all changes of the registry now; returns a status. Called before the use of a
	 * token counts. NULL: such changes are stored like all others. */
	int (*save)(void *context);
	void *save_context;
	uint32_t events; /* bound of the event log; 0: FABRIC_EVENTS */
	/* name of the manager's machine, and its process id, for answers to STATS */
	char name[FABRIC_NAME_BYTES];
	uint32_t pid;
};

/* X(name, what it counts): datagrams that were ignored, by reason, and actions. */
#define REGISTRY_COUNTERS(X)                                                                   \
	X(malformed, "not a management frame, or an invalid one")                              \
	X(damaged, "crc does not match")                                                       \
	X(other_version, "of another version of the wire format")                              \
	X(unauthentic, "sealed with another key")                                              \
	X(replayed, "not newer than what the node sent before")                                \
	X(stale, "without the epoch of this run of the manager; the node repeats its request") \
	X(unproved, "JOINs that had to prove their address, which another node has")           \
	X(unexpected, "a frame that only a manager sends, or for another node")                \
	X(unknown, "from a node that holds no lease")                                          \
	X(reply_full, "answer dropped: too many at once; the node repeats its request")        \
	X(reply_limited, "rejection of a wrong key not sent: too many per second")             \
	X(joined, "leases given to new or restarted nodes")                                    \
	X(renewed, "leases renewed")                                                           \
	X(moved, "nodes seen at a new address")                                                \
	X(busy, "rejected: name or identity is in use by a live node")                         \
	X(left, "nodes that left")                                                             \
	X(died, "leases that expired")                                                         \
	X(forgotten, "nodes removed to free entries")                                          \
	X(assigned, "grants made or revoked")                                                  \
	X(admitted, "keys admitted by a token")                                                \
	X(removed, "keys removed by an operator")                                              \
	X(rotated, "keys replaced by their owners")                                            \
	X(rekeyed, "rotations of the fabric key")                                              \
	X(key_unproved, "refused: a new key without proof of its private key")                 \
	X(key_unknown, "refused: the key is not admitted")                                     \
	X(key_removed, "refused: the key was removed or replaced")                             \
	X(key_needed, "refused: the fabric key does not suffice here")                         \
	X(role, "refused: the role of the key does not permit it")                             \
	X(name_used, "refused: the name or identity belongs to another key")                   \
	X(token_unknown, "refused: no such token")                                             \
	X(token_used, "refused: the token was used")                                           \
	X(token_expired, "refused: the token has expired")                                     \
	X(token_revoked, "refused: the token was revoked")                                     \
	X(unsaved, "tokens not used because the store failed")                                 \
	X(token_unproved, "handshakes with a token that ended without proof of its secret")    \
	X(channel_foreign, "handshakes for another manager's key, or damaged")                 \
	X(channel_limited, "handshakes dropped: too many per second or at once")               \
	X(stats_answered, "requests for counters answered")                                    \
	X(stats_limited, "requests for counters dropped: too many per second")                 \
	X(events_answered, "requests for events answered")                                     \
	X(events_limited,                                                                      \
	  "requests for events dropped: too many per second, or the log is being read")        \
	X(reports_limited, "reports of paths refused: too many per second")                    \
	X(refusals_unlogged, "refusals without an event: repeated, or too many per second")    \
	X(nodes_unlogged, "joins, leaves, deaths and rotations without an event: too many")    \
	X(events_lost, "events that the store did not get in time")                            \
	X(pages, "pages of full tables sent")                                                  \
	X(deltas, "table differences sent")                                                    \
	X(examined, "rows of nodes, keys and grants that searches examined")

struct registry_counters {
#define REGISTRY_COUNTER(name, text) uint64_t name;
	REGISTRY_COUNTERS(REGISTRY_COUNTER)
#undef REGISTRY_COUNTER
};

/* One change that the store must save. */
enum store_op_kind {
	STORE_NODE_PUT,
	STORE_NODE_DELETE,
	STORE_GRANT_PUT,
	STORE_GRANT_DELETE,
	STORE_KEY_PUT,
	STORE_TOKEN_PUT,
	STORE_FABRIC_PUT
};

struct store_op {
	enum store_op_kind kind;
	/* for STORE_NODE_PUT; for STORE_NODE_DELETE, only its id is valid */
	struct node_entry entry;
	/* state of the node, for STORE_NODE_PUT */
	enum node_state state;
	/* names of a grant, for STORE_GRANT_PUT and STORE_GRANT_DELETE */
	char host[FABRIC_NAME_BYTES], xpu[FABRIC_NAME_BYTES];
	size_t index; /* for STORE_KEY_PUT and STORE_TOKEN_PUT: index of the row */
	struct key_row key;
	struct token_row token;
	struct fabric_row fabric;
};

struct registry;

/* Creates an empty registry. DXP_ENOMEM, DXP_EIO. */
int registry_create(const struct registry_options *options, struct registry **out);
void registry_destroy(struct registry *r);

/* Loads a row from the store. Call it before registry_start, and load keys before the nodes that
 * use them. DXP_EINVAL: the row is invalid, the caller logs it; DXP_ENOMEM. */
int registry_load(struct registry *r, const struct store_op *op);

/* Starts the clock. A node that was stored as alive may renew its lease within two lease times. */
void registry_start(struct registry *r, uint64_t now_ns);

/* Processes a datagram. Reads `data` only during the call. */
void registry_receive(struct registry *r, const struct udp_address *from, const uint8_t *data,
		      size_t bytes, uint64_t now_ns);

/* Returns to how many more datagrams the registry can answer before registry_send. */
size_t registry_space(const struct registry *r);

/* Adds a token that the manager itself makes, for its first operator. Returns the statuses of
 * tokens_add. */
int registry_token_add(struct registry *r, const struct token_row *row);
/* Returns true if a key with the role operator is in use. */
bool registry_has_operator(const struct registry *r);
const uint8_t *registry_public_key(const struct registry *r);

/* Writes the next change to store. Returns false if there is none. */
bool registry_next_store(struct registry *r, struct store_op *out);
/* The store has all changes that registry_next_store returned. */
void registry_store_done(struct registry *r);
/* Makes registry_next_store return everything again, also the deletions since the last
 * registry_store_done, because the store has lost data. */
void registry_store_again(struct registry *r);

/* Handles everything whose time has come, and fills `out` with datagrams that are due. Returns
 * their number; if it equals `count`, call again. The datagrams are valid until the next
 * registry_send or registry_receive. */
size_t registry_send(struct registry *r, struct datagram *out, size_t count, uint64_t now_ns);

/* Returns the time in ns at which to call registry_send again; UINT64_MAX: nothing is pending. */
uint64_t registry_deadline(const struct registry *r);

/* Returns the event log. The store loads it, saves what is unsaved, and sets `unsaved`. Events that
 * count as lost there are reported by a counter and an event. */
struct event_journal *registry_events(struct registry *r);

const struct registry_counters *registry_counters(const struct registry *r);
size_t registry_node_count(const struct registry *r, enum node_state state);

#endif
