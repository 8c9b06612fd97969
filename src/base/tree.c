/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tree.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

static bool before(const struct tree_node *n, uint64_t key, uint64_t minor)
{
	return n->key < key || (n->key == key && n->minor < minor);
}

/* SplitMix64. With a secret seed, users cannot choose the tree's shape. */
static uint32_t weight_next(struct tree *t)
{
	uint64_t z = t->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(z >> 32);
}

void tree_insert(struct tree *t, struct tree_node *n, uint64_t key, uint64_t minor)
{
	struct tree_node **at = &t->root, **less = &n->left, **more = &n->right, *rest;

	*n = (struct tree_node){.key = key, .minor = minor, .weight = weight_next(t)};
	while (*at && (*at)->weight >= n->weight)
		at = before(*at, key, minor) ? &(*at)->right : &(*at)->left;
	/* smaller nodes go left of n, others right */
	for (rest = *at; rest;) {
		if (before(rest, key, minor)) {
			*less = rest;
			less = &rest->right;
			rest = rest->right;
		} else {
			*more = rest;
			more = &rest->left;
			rest = rest->left;
		}
	}
	*less = *more = NULL;
	*at = n;
}

void tree_remove(struct tree *t, const struct tree_node *n)
{
	struct tree_node **at = &t->root, *less = n->left, *more = n->right;

	while (*at != n) {
		assert(*at);
		at = before(*at, n->key, n->minor) ? &(*at)->right : &(*at)->left;
	}
	while (less && more) {
		if (less->weight >= more->weight) {
			*at = less;
			at = &less->right;
			less = less->right;
		} else {
			*at = more;
			at = &more->left;
			more = more->left;
		}
	}
	*at = less ? less : more;
}

struct tree_node *tree_floor(const struct tree *t, uint64_t key, uint64_t minor)
{
	struct tree_node *n = t->root, *best = NULL;

	while (n) {
		if (before(n, key, minor) || (n->key == key && n->minor == minor)) {
			best = n;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return best;
}

struct tree_node *tree_ceiling(const struct tree *t, uint64_t key, uint64_t minor)
{
	struct tree_node *n = t->root, *best = NULL;

	while (n) {
		if (before(n, key, minor)) {
			n = n->right;
		} else {
			best = n;
			n = n->left;
		}
	}
	return best;
}
