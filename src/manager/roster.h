/* SPDX-License-Identifier: BSD-3-Clause */
/* Every node the manager knows, alive or not: found by id, uuid and name, and kept in order of
 * their last change. That order is the journal: what changed after sequence s is the tail of the
 * list behind s, each node once, however often it changed. So there is nothing to overflow; only
 * forgetting a node loses history, and `floor` says up to where.
 *
 * Invariant: by_change is ordered by `changed`; by_lease holds exactly the alive nodes, ordered by
 * lease_until_ns. */
#ifndef MANAGER_ROSTER_H
#define MANAGER_ROSTER_H

#include "base/util.h"
#include "manager/list.h"
#include "wire/manage.h"

enum node_state {
	NODE_ALIVE = 1, /* holds a lease */
	NODE_DEAD = 2,  /* its lease ran out; still shown */
	NODE_GONE = 3,  /* left, or dead for long; not shown, but its id waits for it */
};

struct roster_node {
	struct node_entry entry; /* as stored: alive, granted and magic are set for each reader when
				    it is sent */
	enum node_state state;
	uint64_t changed; /* sequence of the last change */
	uint64_t lease_until_ns;
	uint64_t dead_ns;
	/* the conversation with it */
	uint64_t nonce;               /* 0: it has not spoken to this run of the manager */
	uint64_t request;             /* its newest request; older ones are replays */
	struct manage_progress acked; /* what it said it has */
	struct manage_progress sent;  /* what it has when nothing is lost */
	uint64_t push_ns;             /* when its place in a push list is due */
	unsigned in_flight, repeats;
	bool rewound; /* sent has been taken back to acked once since acked last moved */
	struct list by_change, by_time, by_push, by_dirty;
};

struct roster {
	struct roster_node **by_id; /* WIRE_NODE_LAST + 1 places */
	uint64_t *used; /* bit per id: there is a node; so that walking by id skips what is empty */
	size_t count;
	uint64_t sequence; /* of the newest change; the first is 1 */
	uint64_t floor;    /* who has less than this needs the full table */
	uint16_t next_id;
	struct list by_change;
	struct list leases; /* by_time of alive nodes */
	struct list fading; /* by_time of dead hosts, ordered by dead_ns */
	struct list dirty;  /* nodes the store does not know as they are */
	uint8_t *deleted;   /* bit per id: the store must forget it */
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
/* The node with the smallest id that is not below `id`, or NULL. */
struct roster_node *roster_next(const struct roster *r, uint32_t id);
struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES]);
/* The node with this name that is not gone, or NULL. */
struct roster_node *roster_find_name(const struct roster *r, const char *name);

/* A place for a node not known yet, with the wanted id where that is free (0: any). Forgets the
 * longest gone, else the longest dead, when the roster is full. NULL: FABRIC_NODES_MAX nodes are
 * alive, or no memory. */
struct roster_node *roster_add(struct roster *r, uint16_t wanted);

/* Notes a change: a new sequence, to be stored. */
void roster_change(struct roster *r, struct roster_node *n);

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns);
void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns);
void roster_gone(struct roster *r, struct roster_node *n);

/* First node in by_change that changed after `sequence`; &r->by_change when none has. */
struct list *roster_after(const struct roster *r, uint64_t sequence);

#endif
