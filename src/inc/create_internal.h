/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a creation: create.c handles packets and the outcome, create_choose.c chooses the tree,
 * create_send.c sends. */
#ifndef INC_CREATE_INTERNAL_H
#define INC_CREATE_INTERNAL_H

#include "base/util.h"
#include "inc/create.h"
#include "inc/limits.h"

/* Paths up from one member's switch, from its QUERYs. Member 0 only. */
struct ways {
	uint8_t count;
	uint8_t chosen; /* index in `way` of the path used */
	uint8_t hops;   /* switches on it, up to the root */
	uint16_t index; /* among the children of its leaf */
	bool notified;  /* the member confirmed its NOTIFY */
	struct inc_control way[INC_WAYS_MAX];
};

/* A switch of the examined or chosen tree. */
struct node {
	uint32_t ip; /* 0: a free table entry */
	uint32_t parent_ip;
	uint16_t children;
	uint16_t index; /* among its parent's children */
	bool counted;   /* `index` is assigned */
};

enum create_state {
	CREATE_QUERY,  /* member 0: until all QUERYs arrived; others: until the NOTIFY */
	CREATE_NOTIFY, /* member 0: until all have confirmed */
	CREATE_DONE,
	CREATE_FAILED,
};

struct inc_create {
	struct inc_create_options o; /* o.members and o.switches are owned copies */
	enum create_state state;
	uint8_t opcode;
	uint64_t limit_ns; /* absolute */
	uint64_t query_ns; /* next QUERY */
	uint64_t query_gap_ns;
	uint64_t round_ns; /* next round of NOTIFYs, or of failure notices */
	uint64_t round_gap_ns;
	uint32_t round_member; /* next member of the present round; o.count: complete */
	uint64_t received_ns;  /* when the last member's first QUERY arrived; 0: not yet */
	bool no_common;        /* the paths so far have no common switch */
	bool changed;          /* a path arrived or changed since the last choice */
	bool has_notice;
	bool owes_notified; /* NOTIFIED to member 0 is due */
	int status;
	struct inc_control notice; /* from the NOTIFY; member 0: common abilities of the tree */
	uint32_t silent;
	uint8_t above; /* longest own path, in switches */
	/* member 0 */
	struct ways *ways;
	struct node *nodes;     /* hash table by address, for the examined tree */
	uint32_t node_capacity; /* entries; a power of two */
	uint32_t root_ip;
};

/* create_choose.c: chooses the tree. DXP_EBUSY: all paths are refused (*why has the cause);
 * DXP_EUNSUPPORTED: no switch is common to all. */
int create_tree_choose(struct inc_create *c, struct inc_control *why);
/* Returns a switch's table entry, or the free one for it; NULL: the table is full. */
struct node *create_node_find(const struct inc_create *c, uint32_t ip);
/* Returns a member's NOTIFY: the common abilities, and its path with the number of children. */
struct inc_control create_tree_notice(const struct inc_create *c, uint32_t member);

/* create.c */
void create_fail(struct inc_create *c, int status, uint64_t now_ns);
/* create.c: handles due timers: the choice, the limit. */
void create_tick(struct inc_create *c, uint64_t now_ns);

#endif
