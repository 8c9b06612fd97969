/* SPDX-License-Identifier: BSD-3-Clause */
/* All known nodes, found by id, uuid and name, and ordered by their last change. This order is the
 * journal of changes: after sequence s it has the nodes that changed since s, each node once. So
 * the journal cannot overflow. It loses history only if a node is forgotten; `floor` is the first
 * sequence after that.
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
	NODE_DEAD = 2, /* the node's lease expired; other nodes still see the node */
	/* the node left, or has been dead for long; no node sees it, but its id stays reserved */
	NODE_GONE = 3,
};

struct roster_node {
	/* The node as it is stored. Each copy that is sent to a viewer gets its own `alive`,
	 * `granted` and `magic`. */
	struct node_entry entry;
	enum node_state state;
	/* key of the machine or user; NULL: the node joined with the fabric key */
	struct key_row *key;
	bool former;      /* the node uses the manager's former key */
	uint64_t changed; /* sequence number of the node's last change */
	uint64_t lease_until_ns;
	uint64_t dead_ns;
	/* nonce of the node's requests; 0: no request since this manager started */
	uint64_t nonce;
	/* source address of the node's requests, where answers go; valid if `nonce` is not 0 */
	struct udp_address from;
	/* number of the node's newest request; requests with lower numbers are replays */
	uint64_t request;
	struct event_classes events;  /* of a node without a key */
	uint32_t reported;            /* number of the newest REPORT with this nonce */
	struct manage_progress acked; /* progress that the node has confirmed */
	struct manage_progress sent;  /* progress that the node has if no datagram is lost */
	/* time in ns at which the node's entry in a push list is due */
	uint64_t push_ns;
	unsigned in_flight, repeats;
	bool rewound; /* true: `sent` was reset to `acked`, and `acked` has not advanced since */
	struct list by_change, by_time, by_push, by_dirty;
};

struct roster {
	struct roster_node **by_id; /* array with WIRE_NODE_LAST + 1 entries */
	/* one bit for each id: the node exists; speeds up roster_next */
	uint64_t *used;
	size_t count;
	/* sequence number of the newest change; the first change has 1 */
	uint64_t sequence;
	/* a viewer whose sequence is below this number needs the full table */
	uint64_t floor;
	uint16_t next_id;
	struct list by_change;
	struct list leases;
	struct list fading; /* dead hosts, linked by by_time and ordered by dead_ns */
	struct list dirty;
	uint8_t *deleted; /* one bit for each id: the node must be deleted from the store */
	/* one bit for each id: roster_deleted_next has returned it, and it may not be stored yet */
	uint8_t *deleting;
	size_t deleted_count, deleting_count;
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
/* Returns the node with this name, unless its state is NODE_GONE; else NULL. */
struct roster_node *roster_find_name(const struct roster *r, const char *name);
/* Returns the live node that other nodes reach at this address; else NULL. */
struct roster_node *roster_find_address(const struct roster *r, const struct udp_address *address);

/* Adds a node, with id `wanted` if it is free (0: any id). If the roster is full, first forgets the
 * node that is gone for longest. If no node is gone, forgets the node that is dead for longest.
 * NULL: FABRIC_NODES_MAX nodes are alive, or no memory. */
struct roster_node *roster_add(struct roster *r, uint16_t wanted);

/* Gives the node the next sequence number, and marks the node to be stored. */
void roster_change(struct roster *r, struct roster_node *n);

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns);
void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns);
void roster_gone(struct roster *r, struct roster_node *n);

/* Returns the lowest id that must be deleted from the store; 0: none. */
uint16_t roster_deleted_next(struct roster *r);
/* The store has, or has not, executed the deletions that roster_deleted_next returned. */
void roster_deleted_stored(struct roster *r);
void roster_deleted_again(struct roster *r);

/* Returns the first node in by_change that changed after `sequence`. Returns &r->by_change if there
 * is none. */
struct list *roster_after(const struct roster *r, uint64_t sequence);

#endif
