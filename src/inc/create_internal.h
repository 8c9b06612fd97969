/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a group's creation. create.c handles packets and the outcome; create_choose.c chooses
 * the tree; create_send.c sends. */
#ifndef INC_CREATE_INTERNAL_H
#define INC_CREATE_INTERNAL_H

#include "base/util.h"
#include "inc/create.h"
#include "inc/limits.h"

/* Member 0: the paths from one member's switch upwards, as its QUERYs list them. */
struct ways {
	uint8_t count;
	uint8_t chosen; /* index in `way` of the chosen path */
	uint8_t hops;   /* switches on the chosen path, including the root */
	uint16_t index; /* number of this member among the children of its switch */
	bool notified;  /* the member has confirmed its NOTIFY */
	struct inc_control way[INC_WAYS_MAX];
};

/* A switch of the tree. */
struct node {
	uint32_t ip; /* address of the switch; 0: free entry */
	uint32_t parent_ip;
	uint16_t children;
	uint16_t index; /* number of this switch among the children of its parent */
	bool counted;   /* `index` of this switch is assigned */
};

enum create_state {
	CREATE_QUERY,  /* sends QUERYs; member 0 also collects them */
	CREATE_NOTIFY, /* only member 0: sends NOTIFYs */
	CREATE_DONE,
	CREATE_FAILED,
};

struct inc_create {
	struct inc_create_options o; /* owns o.members and o.switches */
	enum create_state state;
	uint64_t limit_ns; /* time at which the creation fails */
	uint64_t query_ns; /* time of the next QUERY */
	uint64_t query_gap_ns;
	uint64_t round_ns; /* time of the next round of NOTIFYs or failure notices */
	uint64_t round_gap_ns;
	uint32_t round_member; /* next member of this round; o.count: the round is complete */
	/* time when the first QUERY of each member had arrived; 0: some are missing */
	uint64_t received_ns;
	bool no_common; /* the known paths of all members have no common switch */
	bool changed;   /* paths have changed after the last choice */
	bool has_notice;
	bool owes_notified; /* this member must confirm to member 0 by a NOTIFIED */
	int status;
	/* content of the NOTIFY; at member 0: what all switches of the tree support */
	struct inc_control notice;
	uint32_t silent;
	uint8_t above; /* switches on member 0's longest path */
	/* Used only by member 0: */
	struct ways *ways;
	struct node *nodes;     /* hash table by address, of the tree being examined */
	uint32_t node_capacity; /* entries; a power of two */
	uint32_t root_ip;
};

/* create_choose.c: chooses the tree. DXP_EBUSY: on each path a switch rejects the group, and *why
 * has the cause. DXP_EUNSUPPORTED: no switch is above all members, or the switches share too few
 * abilities. */
int create_tree_choose(struct inc_create *c, struct inc_control *why);
/* Returns a switch's entry, or the free entry for it; NULL: the table is full. */
struct node *create_node_find(const struct inc_create *c, uint32_t ip);
/* Returns a member's NOTIFY: the shared abilities, and the member's path with the number of each
 * switch's children. */
struct inc_control create_tree_notice(const struct inc_create *c, uint32_t member);

/* create.c */
void create_fail(struct inc_create *c, int status, uint64_t now_ns);
/* create.c: handles the timers of the choice and of the time limit. */
void create_tick(struct inc_create *c, uint64_t now_ns);

#endif
