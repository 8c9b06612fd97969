/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's secrets, as files with mode 0600 in its state folder: `manager.key`, its private
 * key, and `operator.token`, a token for an operator. Errors are logged. */
#ifndef MANAGER_SECRETS_H
#define MANAGER_SECRETS_H

#include "manager/registry.h"

/* Reads FOLDER/manager.key. If it does not exist, draws a key and writes it there. Returns the
 * statuses of keyfile_read. */
int secrets_manager_key(const char *folder, uint8_t key[KEYS_BYTES]);

/* Makes a token for one operator, adds it to the registry, and writes it to FOLDER/operator.token.
 * DXP_EIO: the file cannot be written; other statuses are those of registry_token_add. */
int secrets_operator_token(const char *folder, struct registry *r, uint64_t expires_s);

#endif
