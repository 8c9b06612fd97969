/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of nodes in order of two numbers: a treap, whose shape is random and whose depth therefore
 * grows with the logarithm of its size. Nodes are embedded in what they belong to. Pure; not
 * thread-safe. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stdint.h>

struct tree_node {
	struct tree_node *left, *right;
	uint64_t key, minor; /* the order; no two nodes of a tree have both alike */
	uint32_t weight;     /* random; no child has more than its parent */
};

/* Zeroed: the empty tree. A user who chooses the keys must not know `random`. */
struct tree {
	struct tree_node *root;
	uint64_t random; /* seed of the weights */
};

/* Sets all of *n. */
void tree_insert(struct tree *t, struct tree_node *n, uint64_t key, uint64_t minor);
/* n is in the tree. */
void tree_remove(struct tree *t, const struct tree_node *n);
/* The last node that is not behind (key, minor); NULL: there is none. */
struct tree_node *tree_floor(const struct tree *t, uint64_t key, uint64_t minor);
/* The first node that is not before (key, minor); NULL: there is none. */
struct tree_node *tree_ceiling(const struct tree *t, uint64_t key, uint64_t minor);

#endif
