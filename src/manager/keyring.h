/* SPDX-License-Identifier: BSD-3-Clause */
/* Public keys that the manager has admitted, each with a name and a role, and keys that an operator
 * has removed. A row stays at its index, so pointers to rows are valid until keyring_free; only
 * keyring_undo_add ends a row. */
#ifndef MANAGER_KEYRING_H
#define MANAGER_KEYRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mac.h"
#include "keys/primitives.h"
#include "manager/event_limit.h"
#include "manager/hash_index.h"
#include "manager/limits.h"
#include "wire/manage.h"

/* `removed` of a replaced key in a store; earlier releases read it as removed from SQLite */
#define KEY_REPLACED 2

struct key_row {
	uint8_t key[KEYS_BYTES];
	/* name of the machine or user; unique among keys that are not removed */
	char name[FABRIC_NAME_BYTES];
	uint8_t role; /* enum manage_role */
	bool removed; /* true: requests with this key are rejected from now on */
	/* true: `removed` is true because the key's owner has replaced the key (rotate.c) */
	bool replaced;
	bool dirty;
	struct event_classes events; /* of nodes with this key */
	/* the fabric key, sealed for this key's owner; generation 0: not yet */
	uint32_t sealed_generation;
	uint8_t sealed[MANAGE_SEALED_KEY_BYTES];
	/* authenticates frames with the secret of the manager's key and this key; NULL: not needed
	 * yet */
	struct mac *mac;
	size_t index; /* in the keyring */
	struct hash_link by_key, by_name;
};

struct keyring {
	struct key_row *rows[FABRIC_KEYS_MAX];
	size_t count, dirty;
	size_t dirty_first; /* no row before this index is dirty */
	/* all rows; rows that are not removed */
	struct hash_index by_key, by_name;
};

/* `secret`, `examined`: of hash_index_create. DXP_ENOMEM. */
int keyring_create(struct keyring *k, const uint64_t secret[2], uint64_t *examined);
void keyring_free(struct keyring *k);

/* Finds the row of a key, removed keys included; NULL: there is none. */
struct key_row *keyring_find(const struct keyring *k, const uint8_t key[KEYS_BYTES]);
/* Finds the row with this name among keys that are not removed; NULL: there is none. */
struct key_row *keyring_find_name(const struct keyring *k, const char *name);

/* Adds a row. If the ring is full, it replaces the row of a removed key, and copies that row to
 * *replaced; otherwise replaced->role is ROLE_NONE. Requests with that key are still rejected,
 * because the key is then unknown. NULL: FABRIC_KEYS_MAX keys are in use, or no memory. */
struct key_row *keyring_add(struct keyring *k, const struct key_row *row, struct key_row *replaced);
/* Removes a row that keyring_add has just added, and restores the row that it replaced. */
void keyring_undo_add(struct keyring *k, struct key_row *row, const struct key_row *replaced);
/* Puts a row that was read from the store at its index. DXP_EINVAL, DXP_ENOMEM. */
int keyring_load(struct keyring *k, size_t index, const struct key_row *row);

/* Marks the row as changed, so that it is stored. Call it after each change of `removed`. */
void keyring_change(struct keyring *k, struct key_row *row);
/* Returns the next row to store, and marks it as stored. Returns false if there is none. */
bool keyring_next_dirty(struct keyring *k, size_t *index, struct key_row *out);
void keyring_dirty_all(struct keyring *k);

#endif
