/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a creation: create.c takes packets and knows the outcome, create_choose.c finds the
 * tree, create_send.c sends. */
#ifndef INC_CREATE_INTERNAL_H
#define INC_CREATE_INTERNAL_H

#include "base/util.h"
#include "inc/create.h"

/* The ways up from one member's switch, as its QUERYs told. Member 0 only. */
struct ways {
	uint8_t count;
	uint8_t chosen; /* of the tree: this way, ... */
	uint8_t hops;   /* ... up to this many switches */
	uint16_t index; /* among the children of its leaf */
	bool notified;  /* it has its NOTIFY, and said so */
	struct inc_control way[INC_WAYS_MAX];
};

/* A switch of the tree that is looked at or chosen. */
struct node {
	uint32_t ip; /* 0: a free place of the table */
	uint32_t parent_ip;
	uint16_t children;
	uint16_t index; /* among its parent's children */
	bool counted;   /* as one of them */
};

enum create_state {
	CREATE_QUERY,  /* member 0: until all are heard; others: until the NOTIFY */
	CREATE_NOTIFY, /* member 0: until all have theirs */
	CREATE_DONE,
	CREATE_FAILED,
};

struct inc_create {
	struct inc_create_options o; /* o.members and o.switches are ours */
	enum create_state state;
	uint8_t opcode;
	uint64_t limit_ns; /* the clock's */
	uint64_t query_ns; /* next QUERY */
	uint64_t query_gap_ns;
	uint64_t round_ns; /* next round of NOTIFYs, or of bad news */
	uint64_t round_gap_ns;
	uint32_t round_member; /* where the present round is; o.count: it is over */
	uint64_t heard_ns;     /* when the last member was first heard; 0: not yet */
	bool no_common;        /* the ways that came have no switch in common */
	bool changed;          /* something came since the last choice */
	bool has_notice;
	bool owes_notified; /* to member 0 */
	int status;
	struct inc_control notice; /* what came; member 0: what is common in the tree */
	uint32_t silent;
	uint8_t above; /* switches seen above ours, at most */
	/* member 0 */
	struct ways *ways;
	struct node *nodes;   /* a table by address; of the tree that is looked at */
	uint32_t node_places; /* a power of two */
	uint32_t root_ip;
};

/* create_choose.c: DXP_OK: the tree is chosen; DXP_EBUSY: all ways are refused (*why has the
 * cause); DXP_EUNSUPPORTED: none is common to all. */
int tree_choose(struct inc_create *c, struct inc_control *why);
/* The place of a switch in the table: its own, or a free one; NULL: the table is full. */
struct node *node_place(const struct inc_create *c, uint32_t ip);
/* What member `member` is told: the common abilities and its path with the children counted. */
struct inc_control tree_notice(const struct inc_create *c, uint32_t member);

/* create.c */
void create_fail(struct inc_create *c, int status, uint64_t now_ns);
/* create.c: what time alone brings: the choice, the limit. */
void create_tick(struct inc_create *c, uint64_t now_ns);

#endif
