/* SPDX-License-Identifier: BSD-3-Clause */
/* All known nodes, found by id, uuid, name and address, and ordered by their last change. This
 * order is the journal of changes: after sequence s it has the nodes that changed since s, each
 * node once. So the journal cannot overflow. It loses history only if a node is forgotten, or if an
 * xPU becomes a host; `floor` is the first sequence after that. Hosts and xPUs have journals of
 * their own, because hosts see no other hosts.
 *
 * Invariant: `leases` holds exactly the alive nodes, ordered by lease_until_ns. No operation
 * examines all nodes, except roster_deleted_again. */
#ifndef MANAGER_ROSTER_H
#define MANAGER_ROSTER_H

#include "base/tree.h"
#include "base/util.h"
#include "manager/hash_index.h"
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
	/* The node as it is stored; roster_describe and roster_move change it. Each copy that is
	 * sent to a viewer gets its own `alive`, `granted` and `magic`. */
	struct node_entry entry;
	enum node_state state;
	/* key of the machine or user; NULL: the node joined with the fabric key */
	struct key_row *key;
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
	/* time in ns at which the node's entry in a push list is due; UINT64_MAX: the node has all
	 * changes */
	uint64_t push_ns;
	unsigned in_flight, repeats;
	bool rewound; /* true: `sent` was reset to `acked`, and `acked` has not advanced since */
	struct list by_state, by_push, by_dirty;
	struct tree_node by_change, by_lease;
	struct hash_link by_uuid, by_name, by_address;
};

enum roster_kind { ROSTER_HOSTS, ROSTER_XPUS, ROSTER_KINDS };

struct roster {
	struct roster_node **by_id; /* array with WIRE_NODE_LAST + 1 entries */
	/* one bit for each id: the node exists, and is an xPU; they speed up roster_next */
	uint64_t *used, *xpus;
	size_t count;
	size_t states[NODE_GONE + 1]; /* number of nodes in each state */
	/* sequence number of the newest change; the first change has 1 */
	uint64_t sequence;
	uint16_t next_id;
	struct {
		struct tree changes; /* by `changed` */
		/* a viewer of these nodes whose sequence is below this number needs the full
		 * table */
		uint64_t floor;
		struct list dead; /* linked by by_state and ordered by dead_ns */
	} kinds[ROSTER_KINDS];
	struct tree leases; /* by lease_until_ns */
	struct list gone;   /* linked by by_state; the node that is gone for longest comes first */
	struct list dirty;
	/* all nodes; nodes that are not gone; alive nodes */
	struct hash_index by_uuid, by_name, by_address;
	uint64_t *examined; /* counts the nodes that searches examined */
	uint64_t *deleted;  /* one bit for each id: the node must be deleted from the store */
	/* one bit for each id: roster_deleted_next has returned it, and it may not be stored yet */
	uint64_t *deleting;
	size_t deleted_count, deleting_count;
};

#define ROSTER_NODE(element, member) CONTAINER_OF(element, struct roster_node, member)
/* Visits all nodes in the order of their ids. */
#define ROSTER_EACH(roster, node)                                    \
	for ((node) = roster_next(roster, 0, false); (node) != NULL; \
	     (node) = roster_next(roster, (node)->entry.id + 1u, false))

/* `secret`: random numbers for the hash tables. `examined` must stay valid. */
int roster_create(struct roster *r, const uint64_t secret[2], uint64_t *examined);
void roster_destroy(struct roster *r);

struct roster_node *roster_find(const struct roster *r, uint16_t id);
/* Returns the node with the smallest id >= `id`, or NULL. `xpus`: of xPUs only. */
struct roster_node *roster_next(const struct roster *r, uint32_t id, bool xpus);
struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES]);
/* Returns the node with this name, unless its state is NODE_GONE; else NULL. */
struct roster_node *roster_find_name(const struct roster *r, const char *name);
/* Returns the live node that other nodes reach at this address; else NULL. */
struct roster_node *roster_find_address(const struct roster *r, const struct udp_address *address);

/* Adds a node, with id `wanted` if it is free (0: any id). If the roster is full, first forgets the
 * node that is gone for longest. If no node is gone, forgets the node that is dead for longest.
 * NULL: FABRIC_NODES_MAX nodes are alive, or no memory. */
struct roster_node *roster_add(struct roster *r, uint16_t wanted);

static inline enum roster_kind roster_kind_of(const struct node_entry *entry)
{
	return entry->kind == MANAGE_XPU ? ROSTER_XPUS : ROSTER_HOSTS;
}

/* Replaces the description of a node, except its id. The caller calls roster_change if other nodes
 * must receive it. */
void roster_describe(struct roster *r, struct roster_node *n, const struct node_entry *entry);
/* Sets the address at which other nodes reach this node. */
void roster_move(struct roster *r, struct roster_node *n, const struct udp_address *address);

/* Gives the node the next sequence number, and marks the node to be stored. */
void roster_change(struct roster *r, struct roster_node *n);

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns);
void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns);
void roster_gone(struct roster *r, struct roster_node *n);
/* Sets the state of a node that was added from the store. The caller calls roster_alive or
 * roster_dead later if it has one of these states. */
void roster_state_load(struct roster *r, struct roster_node *n, enum node_state state);

/* Returns the alive node whose lease expires first; NULL: there is none. */
struct roster_node *roster_lease_first(const struct roster *r);
/* Returns the host that is dead for longest; NULL: there is none. */
struct roster_node *roster_dead_host(const struct roster *r);

/* Returns the lowest id that must be deleted from the store; 0: none. */
uint16_t roster_deleted_next(struct roster *r);
/* The store has, or has not, executed the deletions that roster_deleted_next returned. */
void roster_deleted_stored(struct roster *r);
void roster_deleted_again(struct roster *r);

/* Returns the node of this kind that changed first after `sequence`; NULL: there is none. */
struct roster_node *roster_changed_after(const struct roster *r, enum roster_kind kind,
					 uint64_t sequence);

#endif
