/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/keyring.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

_Static_assert(FABRIC_KEYS_MAX <= HASH_INDEX_ROWS, "the hash tables have buckets for all keys");

int keyring_create(struct keyring *k, const uint64_t secret[2], uint64_t *examined)
{
	int status = hash_index_create(&k->by_key, secret, examined);

	return status == DXP_OK ? hash_index_create(&k->by_name, secret, examined) : status;
}

void keyring_free(struct keyring *k)
{
	hash_index_destroy(&k->by_key);
	hash_index_destroy(&k->by_name);
	for (size_t i = 0; i < k->count; i++) {
		if (k->rows[i])
			mac_destroy(k->rows[i]->mac);
		free(k->rows[i]);
	}
	k->count = 0;
}

struct key_row *keyring_find(const struct keyring *k, const uint8_t key[KEYS_BYTES])
{
	struct hash_link *l =
		hash_index_first(&k->by_key, hash_index_hash(&k->by_key, key, KEYS_BYTES));

	for (; l; l = hash_index_next(&k->by_key, l)) {
		struct key_row *row = CONTAINER_OF(l, struct key_row, by_key);
		if (memcmp(row->key, key, KEYS_BYTES) == 0)
			return row;
	}
	return NULL;
}

static uint64_t name_hash(const struct keyring *k, const char *name)
{
	return hash_index_hash(&k->by_name, name, strnlen(name, FABRIC_NAME_BYTES));
}

struct key_row *keyring_find_name(const struct keyring *k, const char *name)
{
	struct hash_link *l = hash_index_first(&k->by_name, name_hash(k, name));

	for (; l; l = hash_index_next(&k->by_name, l)) {
		struct key_row *row = CONTAINER_OF(l, struct key_row, by_name);
		if (!row->removed && strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

/* Enters the row under its name, or not if it is removed. */
static void name_update(struct keyring *k, struct key_row *row)
{
	hash_index_remove(&row->by_name);
	if (!row->removed)
		hash_index_add(&k->by_name, &row->by_name, name_hash(k, row->name));
}

static void row_unlink(struct key_row *row)
{
	hash_index_remove(&row->by_key);
	hash_index_remove(&row->by_name);
}

/* Returns the index for a new row: the end of the table, or if the table is full, the index of a
 * removed key. FABRIC_KEYS_MAX: all keys are in use. */
static size_t place_find(const struct keyring *k)
{
	size_t i = k->count;

	if (i < FABRIC_KEYS_MAX)
		return i;
	for (i = 0; i < k->count; i++)
		if (!k->rows[i] || k->rows[i]->removed)
			break;
	return i;
}

/* Writes a row to an index, where another row may have been. */
static struct key_row *place_fill(struct keyring *k, size_t index, const struct key_row *row)
{
	struct key_row *r = k->rows[index] ? k->rows[index] : calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	mac_destroy(r->mac);
	k->dirty -= r->dirty;
	row_unlink(r);
	*r = *row;
	r->by_key = r->by_name = (struct hash_link){0}; /* those of a copy are void */
	hash_index_add(&k->by_key, &r->by_key, hash_index_hash(&k->by_key, r->key, KEYS_BYTES));
	name_update(k, r);
	r->mac = NULL;
	r->sealed_generation = 0; /* it may be a copy of another key's row */
	r->dirty = false;
	r->index = index;
	k->rows[index] = r;
	if (index >= k->count)
		k->count = index + 1;
	return r;
}

struct key_row *keyring_add(struct keyring *k, const struct key_row *row, struct key_row *replaced)
{
	size_t index = place_find(k);

	*replaced = (struct key_row){0};
	if (index == FABRIC_KEYS_MAX)
		return NULL;
	if (index < k->count && k->rows[index])
		*replaced = *k->rows[index];
	struct key_row *r = place_fill(k, index, row);
	if (r)
		keyring_change(k, r);
	return r;
}

void keyring_undo_add(struct keyring *k, struct key_row *row, const struct key_row *replaced)
{
	const size_t i = row->index;

	if (replaced->role != ROLE_NONE) {
		place_fill(k, i, replaced);
		keyring_change(k, row);
		return;
	}
	k->dirty -= row->dirty;
	row_unlink(row);
	mac_destroy(row->mac);
	free(row);
	k->rows[i] = NULL;
	if (i + 1 == k->count)
		k->count--;
}

int keyring_load(struct keyring *k, size_t index, const struct key_row *row)
{
	if (index >= FABRIC_KEYS_MAX || !manage_name_valid(row->name) || row->role < ROLE_HOST ||
	    row->role > ROLE_OPERATOR || keyring_find(k, row->key))
		return DXP_EINVAL;
	return place_fill(k, index, row) ? DXP_OK : DXP_ENOMEM;
}

void keyring_change(struct keyring *k, struct key_row *row)
{
	k->dirty += !row->dirty;
	row->dirty = true;
	k->dirty_first = min_u64(k->dirty_first, row->index);
	name_update(k, row);
}

bool keyring_next_dirty(struct keyring *k, size_t *index, struct key_row *out)
{
	for (size_t i = k->dirty_first; k->dirty > 0 && i < k->count; i++) {
		k->dirty_first = i + 1;
		if (!k->rows[i] || !k->rows[i]->dirty)
			continue;
		k->rows[i]->dirty = false;
		k->dirty--;
		*index = i;
		*out = *k->rows[i];
		out->mac = NULL;
		return true;
	}
	return false;
}

void keyring_dirty_all(struct keyring *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->rows[i])
			keyring_change(k, k->rows[i]);
}
