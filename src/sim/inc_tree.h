/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a simulated network for in-network computing, and the way through it. Hosts hang
 * below leaves, leaves below spines, and so on for as many levels as there are; the switches that
 * stand beside each other above the same part of the tree (its pod) are all connected to all
 * switches next below and above it. A packet that does not concern a switch is passed on: down, if
 * it goes below this switch, else up, on one of the ways by a hash of its ends (ECMP).
 *
 * Nodes are numbered: hosts, then leaves, then each level above. */
#ifndef SIM_INC_TREE_H
#define SIM_INC_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define INC_TREE_LEVELS_MAX 8
#define INC_TREE_NOBODY     UINT32_MAX

struct inc_tree_options {
	uint32_t hosts;
	uint32_t levels; /* of switches: 1 .. INC_TREE_LEVELS_MAX */
	/* [0]: hosts below a leaf; [l]: pods of level l - 1 in one of level l; 0: all that are
	 * left, as at the top */
	uint32_t below[INC_TREE_LEVELS_MAX];
	uint32_t beside[INC_TREE_LEVELS_MAX]; /* switches of a pod; 0: 1; [0] is always 1 */
	uint64_t seed;                        /* of the hash */
};

struct inc_tree_node {
	uint32_t level; /* 0: host; l + 1: switch of level l */
	uint32_t pod, index;
	uint32_t first_port, parents, children;
	bool dead; /* nothing goes through it */
};

struct inc_tree {
	struct inc_tree_options options;
	uint32_t pods[INC_TREE_LEVELS_MAX + 1]; /* by level of node */
	uint32_t first[INC_TREE_LEVELS_MAX + 2];
	uint32_t node_count, switch_count, port_count;
	struct inc_tree_node *nodes;
};

/* DXP_ENOMEM; DXP_EINVAL. */
int inc_tree_create(struct inc_tree *t, const struct inc_tree_options *o);
void inc_tree_free(struct inc_tree *t);

/* The k-th switch above a node; the k-th node below it. */
uint32_t inc_tree_parent(const struct inc_tree *t, uint32_t node, uint32_t k);

/* The pod of switches of level `level` (1: leaves) that is above a node, or that it belongs to. */
uint32_t inc_tree_pod(const struct inc_tree *t, uint32_t node, uint32_t level);

/* The next node on the way from `node` to `to`, and the port of `node` to it. INC_TREE_NOBODY:
 * there is no way. `flow` chooses among ways. */
uint32_t inc_tree_next(const struct inc_tree *t, uint32_t node, uint32_t to, uint64_t flow,
		       uint32_t *port);

uint32_t inc_tree_ip(const struct inc_tree *t, uint32_t node);
uint32_t inc_tree_node(const struct inc_tree *t, uint32_t ip); /* INC_TREE_NOBODY */

#endif
