/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's key pair, and the file with its public key in the fabric's folder. */
#ifndef CMD_DXP_KEYS_MANAGER_H
#define CMD_DXP_KEYS_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "cmd/dxp/key_state.h"

/* s, 30 days: machines that are off for that long learn the new key */
#define KEYS_MANAGER_OVERLAP_S 2592000

/* Reads the public key from the manager, which proves it by the key in q->manager_key, and compares
 * it with the file. Returns a status; q->text has the reason of a failure. DXP_EUNSUPPORTED: the
 * manager is of an earlier release. */
int keys_manager_get(struct control *q, const char *file, struct key_state *out);
/* Replaces the key pair, and writes the new public key to the file. Returns a status, and sets
 * q->text if it fails. DXP_EIO: the key pair was replaced, but the file was not written. */
int keys_manager_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
			struct key_state *out);
/* Writes the key to the file unless it has it. False, with errno: it was not written. */
bool keys_manager_store(struct key_state *m, const char *file);

/* Prints lines for a reader; returns a JSON object, or null if the key is unknown. */
void keys_manager_print(const struct key_state *m, const char *file);
json_t *keys_manager_json(const struct key_state *m);

#endif
