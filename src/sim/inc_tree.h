/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network's shape and paths: hosts below leaf switches, leaves below spines, and so on.
 * Parallel switches above one part are a pod, wired to all switches directly above and below.
 * Packets go down if the destination is below, else up; a hash of both ends selects (ECMP).
 *
 * Nodes are numbered: hosts, leaves, then each higher level. */
#ifndef SIM_INC_TREE_H
#define SIM_INC_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define INC_TREE_LEVELS_MAX 8
#define INC_TREE_NONE       UINT32_MAX

struct inc_tree_options {
	uint32_t hosts;
	uint32_t levels; /* of switches: 1 .. INC_TREE_LEVELS_MAX */
	/* [0]: hosts below a leaf; [l]: pods of level l - 1 below one of level l; 0: all that
	 * remain, as at the top. */
	uint32_t below[INC_TREE_LEVELS_MAX];
	/* switches in a pod; 0 stands for 1; at level 0 always 1 */
	uint32_t beside[INC_TREE_LEVELS_MAX];
	uint64_t seed; /* of the ECMP hash */
};

struct inc_tree_node {
	uint32_t level; /* 0: host; l + 1: switch of level l */
	uint32_t pod, index;
	uint32_t first_port, parents, children;
	bool dead; /* no packet passes */
};

struct inc_tree {
	struct inc_tree_options options;
	/* by level; level 0: hosts */
	uint32_t pods[INC_TREE_LEVELS_MAX + 1];
	uint32_t first[INC_TREE_LEVELS_MAX + 2];
	uint32_t node_count, switch_count, port_count;
	struct inc_tree_node *nodes;
};

/* DXP_ENOMEM, DXP_EINVAL. */
int inc_tree_create(struct inc_tree *t, const struct inc_tree_options *o);
void inc_tree_free(struct inc_tree *t);

/* Returns the k-th switch above. */
uint32_t inc_tree_parent(const struct inc_tree *t, uint32_t node, uint32_t k);

/* Returns the pod at `level` (1: leaves) that is above the node or contains it. */
uint32_t inc_tree_pod(const struct inc_tree *t, uint32_t node, uint32_t level);

/* Returns the next node; *port leads there. INC_TREE_NONE: no path. `flow` selects among equal
 * paths. */
uint32_t inc_tree_next(const struct inc_tree *t, uint32_t node, uint32_t to, uint64_t flow,
		       uint32_t *port);

uint32_t inc_tree_ip(const struct inc_tree *t, uint32_t node);
/* Returns the node with this address, or INC_TREE_NONE. */
uint32_t inc_tree_node(const struct inc_tree *t, uint32_t ip);

#endif
