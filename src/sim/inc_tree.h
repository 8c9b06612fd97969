/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network for in-network computing: its shape, and the paths through it. Hosts are
 * below leaf switches, leaves are below spines, and so on. Parallel switches above the same part of
 * the tree are a pod. Each switch of a pod has wires to all switches directly below and above it. A
 * packet goes down if its destination is below, else up. A hash of both ends selects among equal
 * paths (ECMP).
 *
 * Nodes are numbered: first hosts, then leaves, then each higher level. */
#ifndef SIM_INC_TREE_H
#define SIM_INC_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define INC_TREE_LEVELS_MAX 8
#define INC_TREE_NONE       UINT32_MAX

struct inc_tree_options {
	uint32_t hosts;
	uint32_t levels; /* levels of switches: 1 .. INC_TREE_LEVELS_MAX */
	/* [0]: number of hosts below a leaf. [l]: number of pods of level l - 1 below one pod of
	 * level l. 0: all that remain, as at the top level. */
	uint32_t below[INC_TREE_LEVELS_MAX];
	/* switches in a pod of each level; 0 stands for 1; at level 0 always 1 */
	uint32_t beside[INC_TREE_LEVELS_MAX];
	uint64_t seed; /* seed of the ECMP hash */
};

struct inc_tree_node {
	uint32_t level; /* 0: a host; l + 1: a switch of level l */
	uint32_t pod, index;
	uint32_t first_port, parents, children;
	bool dead; /* true: no packet passes the node */
};

struct inc_tree {
	struct inc_tree_options options;
	/* number of pods of each level; level 0 are the hosts */
	uint32_t pods[INC_TREE_LEVELS_MAX + 1];
	uint32_t first[INC_TREE_LEVELS_MAX + 2];
	uint32_t node_count, switch_count, port_count;
	struct inc_tree_node *nodes;
};

/* Creates a tree. DXP_ENOMEM, DXP_EINVAL. */
int inc_tree_create(struct inc_tree *t, const struct inc_tree_options *o);
void inc_tree_free(struct inc_tree *t);

/* Returns the k-th switch above a node. */
uint32_t inc_tree_parent(const struct inc_tree *t, uint32_t node, uint32_t k);

/* Returns the pod of switches at `level` (1: leaves) that is above a node, or that contains the
 * node. */
uint32_t inc_tree_pod(const struct inc_tree *t, uint32_t node, uint32_t level);

/* Returns the next node on the path from `node` to `to`, and the port that leads to it.
 * INC_TREE_NONE: there is no path. `flow` selects among equal paths. */
uint32_t inc_tree_next(const struct inc_tree *t, uint32_t node, uint32_t to, uint64_t flow,
		       uint32_t *port);

uint32_t inc_tree_ip(const struct inc_tree *t, uint32_t node);
/* Returns the node with this address, or INC_TREE_NONE. */
uint32_t inc_tree_node(const struct inc_tree *t, uint32_t ip);

#endif
