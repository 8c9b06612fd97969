/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordered set of nodes with two-part keys: a treap. Random weights keep its depth logarithmic.
 * Nodes are embedded in their owners' structs. No I/O; not thread-safe. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stdint.h>

struct tree_node {
	struct tree_node *left, *right;
	/* order of the node: `key` first, then `minor`; the pair is unique in a tree */
	uint64_t key, minor;
	uint32_t weight; /* random number; at least the weight of each child */
};

/* An all-zero struct is the empty tree. `random` must stay secret, because an attacker who knows it
 * could choose keys that make the tree deep. */
struct tree {
	struct tree_node *root;
	uint64_t random; /* state of the generator of weights */
};

/* Inserts n with this key, and sets all fields of n. */
void tree_insert(struct tree *t, struct tree_node *n, uint64_t key, uint64_t minor);
/* Removes n, which must be in the tree. */
void tree_remove(struct tree *t, const struct tree_node *n);
/* Returns the last node whose (key, minor) is not greater, or NULL. */
struct tree_node *tree_floor(const struct tree *t, uint64_t key, uint64_t minor);
/* Returns the first node whose (key, minor) is not less, or NULL. */
struct tree_node *tree_ceiling(const struct tree *t, uint64_t key, uint64_t minor);

#endif
