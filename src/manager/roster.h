/* SPDX-License-Identifier: BSD-3-Clause */
/* All known nodes, alive or not: by id, uuid and name, and in order of their last change. That
 * order is the journal: the list behind sequence s holds each node changed after s, once. So it
 * cannot overflow; only forgetting a node loses history, up to `floor`.
 *
 * Invariant: by_change is ordered by `changed`; `leases` holds exactly the alive nodes, ordered
 * by lease_until_ns. */
#ifndef MANAGER_ROSTER_H
#define MANAGER_ROSTER_H

#include "base/util.h"
#include "manager/list.h"
#include "wire/manage.h"

enum node_state {
	NODE_ALIVE = 1, /* holds a lease */
	NODE_DEAD = 2,  /* its lease expired; still shown */
	NODE_GONE = 3,  /* left, or dead for long; not shown, its id stays reserved */
};

struct roster_node {
	/* As stored; alive, granted and magic are set per viewer when sent. */
	struct node_entry entry;
	enum node_state state;
	uint64_t changed; /* sequence of the last change */
	uint64_t lease_until_ns;
	uint64_t dead_ns;
	/* Requests and updates: */
	uint64_t nonce;               /* 0: no request since this manager started */
	uint64_t request;             /* its newest request; older ones are replays */
	struct manage_progress acked; /* what it has confirmed */
	struct manage_progress sent;  /* what it has if nothing was lost */
	uint64_t push_ns;             /* when its entry in a push list is due */
	unsigned in_flight, repeats;
	bool rewound; /* `sent` was reset to `acked` once since `acked` advanced */
	struct list by_change, by_time, by_push, by_dirty;
};

struct roster {
	struct roster_node **by_id; /* WIRE_NODE_LAST + 1 entries */
	/* bit per id: a node exists; lets walks skip free ids */
	uint64_t *used;
	size_t count;
	uint64_t sequence; /* of the newest change; the first is 1 */
	uint64_t floor;    /* a viewer below this needs the full table */
	uint16_t next_id;
	struct list by_change;
	struct list leases; /* by_time of alive nodes */
	struct list fading; /* by_time of dead hosts, ordered by dead_ns */
	struct list dirty;  /* nodes whose stored row is outdated */
	uint8_t *deleted;   /* bit per id: to be deleted from the store */
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
/* Returns the node with the smallest id not below `id`, or NULL. */
struct roster_node *roster_next(const struct roster *r, uint32_t id);
struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES]);
/* Returns the node with this name that is not gone, or NULL. */
struct roster_node *roster_find_name(const struct roster *r, const char *name);

/* Adds a node, with the id `wanted` if free (0: any). When full, forgets the longest gone, else
 * the longest dead node. NULL: FABRIC_NODES_MAX nodes are alive, or no memory. */
struct roster_node *roster_add(struct roster *r, uint16_t wanted);

/* Assigns a new sequence and marks the node for the store. */
void roster_change(struct roster *r, struct roster_node *n);

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns);
void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns);
void roster_gone(struct roster *r, struct roster_node *n);

/* Returns the first node in by_change that changed after `sequence`; &r->by_change: none. */
struct list *roster_after(const struct roster *r, uint64_t sequence);

#endif
