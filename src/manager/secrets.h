/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's secrets, as files with mode 0600 in its state folder: `manager.key`, its private
 * key; `operator.token`, a token for an operator; `store.key`, which seals rows in etcd. Errors are
 * logged. */
#ifndef MANAGER_SECRETS_H
#define MANAGER_SECRETS_H

#include "manager/registry.h"

/* Reads FOLDER/manager.key. If it does not exist, draws a key and writes it there. Returns the
 * statuses of keyfile_read. */
int secrets_manager_key(const char *folder, uint8_t key[KEYS_BYTES]);

/* Makes a token for one operator, adds it to the registry, and writes it to FOLDER/operator.token.
 * DXP_EIO: the file cannot be written; other statuses are those of registry_token_add. */
int secrets_operator_token(const char *folder, struct registry *r, uint64_t expires_s);

/* Reads FOLDER/store.key; if it does not exist, copies the key of the manager's key file. That file
 * may change when the fabric key is rotated, but rows in etcd stay sealed by the first one.
 * Statuses of keyfile_read. */
int secrets_store_key(const char *folder, const uint8_t given[FABRIC_KEY_BYTES],
		      uint8_t out[FABRIC_KEY_BYTES]);
/* Writes FOLDER/store.key, unless it exists. DXP_EIO. */
int secrets_store_key_keep(const char *folder, const uint8_t key[FABRIC_KEY_BYTES]);

#endif
