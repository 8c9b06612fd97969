/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric key at the manager, and its file in the fabric's folder. */
#ifndef CMD_DXP_KEYS_FABRIC_H
#define CMD_DXP_KEYS_FABRIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cmd/dxp/key_state.h"
#include "keys/fabric_key.h"

/* s; longer than the time after which a node that lost some datagrams has the new key */
#define KEYS_OVERLAP_S "10"

/* s; the manager accepts no longer one: for the fabric key, for any key */
#define KEYS_FABRIC_OVERLAP_MAX_S 86400
#define KEYS_OVERLAP_MAX_S        3456000

/* Reads the key from the manager, and compares it with the file. Returns a status; q->text has the
 * reason of a failure. DXP_EUNSUPPORTED: the manager is of an earlier release. */
int keys_fabric_get(struct control *q, const char *file, struct key_state *out);

/* Replaces the key at the manager, and writes the new one to the file. Returns a status, and sets
 * q->text if it fails. DXP_EIO: the key was replaced, but the file was not written, which is
 * logged. */
int keys_fabric_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
		       struct key_state *out);

/* Prints lines for a reader; returns a JSON object, or null if the key is unknown. */
void keys_fabric_print(const struct key_state *f, const char *file);
json_t *keys_fabric_json(const struct key_state *f);

#endif
