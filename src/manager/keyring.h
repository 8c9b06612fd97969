/* SPDX-License-Identifier: BSD-3-Clause */
/* Public keys that the manager has admitted, each with a name and a role, and those that it has
 * removed. Rows stay at their place, so pointers to them are valid until keyring_free. */
#ifndef MANAGER_KEYRING_H
#define MANAGER_KEYRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mac.h"
#include "keys/primitives.h"
#include "manager/limits.h"
#include "wire/manage.h"

struct key_row {
	uint8_t key[KEYS_BYTES];
	char name[FABRIC_NAME_BYTES]; /* of the machine or user; unique among keys in use */
	uint8_t role;                 /* enum manage_role */
	bool removed;                 /* refused from now on */
	bool dirty;
	struct mac *mac; /* by the secret of this pair; NULL: not needed yet */
};

struct keyring {
	struct key_row *rows[FABRIC_KEYS_MAX];
	size_t count, dirty;
};

void keyring_free(struct keyring *k);

/* Find a row, removed ones too, or NULL. */
struct key_row *keyring_find(const struct keyring *k, const uint8_t key[KEYS_BYTES]);
/* Finds a key in use by its name, or NULL. */
struct key_row *keyring_find_name(const struct keyring *k, const char *name);

/* Adds a row. If the ring is full, it replaces a removed one, which is then unknown and refused for
 * that. NULL: FABRIC_KEYS_MAX keys are in use, or no memory. */
struct key_row *keyring_add(struct keyring *k, const struct key_row *row);
/* Puts a stored row at its place. DXP_EINVAL, DXP_ENOMEM. */
int keyring_load(struct keyring *k, size_t index, const struct key_row *row);

void keyring_change(struct keyring *k, struct key_row *row); /* to be stored */
/* Returns the next row to store and marks it as stored; false: none. */
bool keyring_next_dirty(struct keyring *k, size_t *index, struct key_row *out);
void keyring_dirty_all(struct keyring *k);

#endif
