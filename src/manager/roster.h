/* SPDX-License-Identifier: BSD-3-Clause */
/* All known nodes: by id, uuid and name, and ordered by their last change. That order is the
 * journal: after sequence s come the nodes that changed since s, each once. So it cannot overflow;
 * only forgetting a node loses history, up to `floor`.
 *
 * Invariant: by_change is ordered by `changed`. `leases` holds exactly the alive nodes, ordered by
 * lease_until_ns. */
#ifndef MANAGER_ROSTER_H
#define MANAGER_ROSTER_H

#include "base/util.h"
#include "manager/keyring.h"
#include "manager/list.h"
#include "wire/manage.h"

enum node_state {
	NODE_ALIVE = 1,
	NODE_DEAD = 2, /* its lease expired; still visible */
	NODE_GONE = 3, /* left, or dead for long; invisible, its id stays reserved */
};

struct roster_node {
	/* The node as the store has it. In each copy that is sent, `alive`, `granted` and `magic`
	 * are set for its viewer. */
	struct node_entry entry;
	enum node_state state;
	struct key_row *key; /* its machine's or user's; NULL: it joined with the fabric key */
	uint64_t changed;    /* sequence of its last change */
	uint64_t lease_until_ns;
	uint64_t dead_ns;
	/* nonce of its requests; 0: no request since this manager started */
	uint64_t nonce;
	struct udp_address from;      /* source of its requests, for answers; valid with a nonce */
	uint64_t request;             /* number of its newest request; others are replays */
	struct manage_progress acked; /* what it confirmed */
	struct manage_progress sent;  /* what it has if no datagram is lost */
	uint64_t push_ns;             /* when its entry in a push list is due */
	unsigned in_flight, repeats;
	bool rewound; /* `sent` was reset to `acked` since `acked` last advanced */
	struct list by_change, by_time, by_push, by_dirty;
};

struct roster {
	struct roster_node **by_id; /* WIRE_NODE_LAST + 1 entries */
	/* bit per id: node exists; speeds up roster_next */
	uint64_t *used;
	size_t count;
	uint64_t sequence; /* sequence of the newest change; the first is 1 */
	uint64_t floor;    /* viewers below it need the full table */
	uint16_t next_id;
	struct list by_change;
	struct list leases;
	struct list fading; /* by_time of dead hosts, ordered by dead_ns */
	struct list dirty;
	uint8_t *deleted; /* bit per id: delete it from the store */
	size_t deleted_count;
};

#define ROSTER_NODE(element, member) CONTAINER_OF(element, struct roster_node, member)
#define ROSTER_EACH(roster, node)                                                   \
	for (struct list *at_ = (roster)->by_change.next;                           \
	     at_ != &(roster)->by_change && ((node) = ROSTER_NODE(at_, by_change)); \
	     at_ = at_->next)

int roster_create(struct roster *r);
void roster_destroy(struct roster *r);

struct roster_node *roster_find(const struct roster *r, uint16_t id);
/* Returns the node with the smallest id >= `id`, or NULL. */
struct roster_node *roster_next(const struct roster *r, uint32_t id);
struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES]);
/* Returns the node with this name, unless it is gone; else NULL. */
struct roster_node *roster_find_name(const struct roster *r, const char *name);
/* Returns the live node that others reach at this address; else NULL. */
struct roster_node *roster_find_address(const struct roster *r, const struct udp_address *address);

/* Adds a node with id `wanted` if free (0: any). If the roster is full, first forgets the node that
 * is gone for longest; without such a node, the one that is dead for longest. NULL:
 * FABRIC_NODES_MAX nodes are alive, or no memory. */
struct roster_node *roster_add(struct roster *r, uint16_t wanted);

/* Gives the node the next sequence and marks it to be stored. */
void roster_change(struct roster *r, struct roster_node *n);

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns);
void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns);
void roster_gone(struct roster *r, struct roster_node *n);

/* Returns the first node in by_change that changed after `sequence`; &r->by_change: none. */
struct list *roster_after(const struct roster *r, uint64_t sequence);

#endif
