/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of embedded links: finds rows by their bytes in constant time. The number of buckets
 * is fixed, because all tables of the manager have at most HASH_INDEX_ROWS rows. Several rows may
 * have the same bytes. */
#ifndef MANAGER_HASH_INDEX_H
#define MANAGER_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_INDEX_ROWS      4096
#define HASH_INDEX_BYTES_MAX 64 /* bytes of a row that may be hashed: two names */

/* Zeroed: in no table. */
struct hash_link {
	struct hash_link *next, **at; /* *at points to this link; NULL: in no table */
	uint64_t hash;
};

struct hash_index {
	struct hash_link **buckets;
	uint64_t secret[2]; /* without it, rows that share a bucket cannot be chosen */
	uint64_t *examined; /* counts the links that searches examined */
};

/* `examined` must stay valid. DXP_ENOMEM. */
int hash_index_create(struct hash_index *x, const uint64_t secret[2], uint64_t *examined);
void hash_index_destroy(struct hash_index *x);

uint64_t hash_index_hash(const struct hash_index *x, const void *data, size_t bytes);
/* Adds a link that is in no table. */
void hash_index_add(struct hash_index *x, struct hash_link *l, uint64_t hash);
/* Removes the link; does nothing if it is in no table. */
void hash_index_remove(struct hash_link *l);
/* Return the first link with this hash, and the next one after `l`; NULL: there is none. */
struct hash_link *hash_index_first(const struct hash_index *x, uint64_t hash);
struct hash_link *hash_index_next(const struct hash_index *x, const struct hash_link *l);

#endif
