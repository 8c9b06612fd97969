/* SPDX-License-Identifier: BSD-3-Clause */
/* A key that the manager can replace, as the manager has it: the fabric key, or its own key pair.
 */
#ifndef CMD_DXP_KEY_STATE_H
#define CMD_DXP_KEY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "cmd/dxp/control.h"

struct key_state {
	bool known;  /* the manager has answered, so the other members are valid */
	bool stored; /* the file in the fabric's folder has this key; the caller sets it */
	uint8_t key[KEYS_BYTES];
	struct channel_fabric state;
};

/* Makes the request in q->request, whose answer has a key. Returns a status; q->text has the reason
 * of a failure. DXP_EUNSUPPORTED: the manager is of an earlier release. */
int key_state_request(struct control *q, struct key_state *out);

/* Returns the request that replaces a key. */
struct channel_request key_state_rotation(enum channel_command command, uint64_t overlap_s,
					  bool force);

/* Prints for how long the former key is accepted, and whether the file has another key. `use`: the
 * sentence before that time, such as "nodes accept the former key". */
void key_state_print(const struct key_state *k, const char *use, const char *file);

/* Returns an object in which the key has the name `name` and the text `text`; null if the key is
 * unknown. */
json_t *key_state_json(const struct key_state *k, const char *name, const char *text);

#endif
