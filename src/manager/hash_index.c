/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/hash_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/siphash.h"

#define BUCKETS (2u * HASH_INDEX_ROWS)

int hash_index_create(struct hash_index *x, const uint64_t secret[2], uint64_t *examined)
{
	*x = (struct hash_index){.buckets = calloc(BUCKETS, sizeof(struct hash_link *)),
				 .secret = {secret[0], secret[1]},
				 .examined = examined};
	return x->buckets ? DXP_OK : DXP_ENOMEM;
}

void hash_index_destroy(struct hash_index *x)
{
	free(x->buckets);
	x->buckets = NULL;
}

uint64_t hash_index_hash(const struct hash_index *x, const void *data, size_t bytes)
{
	uint64_t words[HASH_INDEX_BYTES_MAX / 8] = {0};

	assert(bytes <= sizeof(words));
	memcpy(words, data, bytes);
	return siphash_words(x->secret, words, (bytes + 7) / 8);
}

void hash_index_add(struct hash_index *x, struct hash_link *l, uint64_t hash)
{
	struct hash_link **bucket = &x->buckets[hash % BUCKETS];

	*l = (struct hash_link){.next = *bucket, .at = bucket, .hash = hash};
	if (l->next)
		l->next->at = &l->next;
	*bucket = l;
}

void hash_index_remove(struct hash_link *l)
{
	if (!l->at)
		return;
	*l->at = l->next;
	if (l->next)
		l->next->at = l->at;
	*l = (struct hash_link){0};
}

static struct hash_link *same(const struct hash_index *x, struct hash_link *l, uint64_t hash)
{
	while (l && l->hash != hash) {
		++*x->examined;
		l = l->next;
	}
	*x->examined += l != NULL;
	return l;
}

struct hash_link *hash_index_first(const struct hash_index *x, uint64_t hash)
{
	return same(x, x->buckets[hash % BUCKETS], hash);
}

struct hash_link *hash_index_next(const struct hash_index *x, const struct hash_link *l)
{
	return same(x, l->next, l->hash);
}
