/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordered set of embedded nodes with two-part keys: a treap, of logarithmic depth by random
 * weights. No I/O; not thread-safe. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stdint.h>

struct tree_node {
	struct tree_node *left, *right;
	/* order; unique in a tree */
	uint64_t key, minor;
	uint32_t weight; /* at least each child's */
};

/* Zeroed: empty. `random` must stay secret, or an attacker could choose keys that make the tree
 * deep. */
struct tree {
	struct tree_node *root;
	uint64_t random; /* for weights */
};

/* Sets all fields of n. */
void tree_insert(struct tree *t, struct tree_node *n, uint64_t key, uint64_t minor);
void tree_remove(struct tree *t, const struct tree_node *n);
/* The last node not above (key, minor), or NULL. */
struct tree_node *tree_floor(const struct tree *t, uint64_t key, uint64_t minor);
/* The first node not below (key, minor), or NULL. */
struct tree_node *tree_ceiling(const struct tree *t, uint64_t key, uint64_t minor);

#endif
