/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between manage.c and manage_rows.c. */
#ifndef WIRE_MANAGE_ENTRY_H
#define WIRE_MANAGE_ENTRY_H

#include "wire/cursor.h"
#include "wire/manage.h"

void manage_entry_put(struct put_cursor *c, const struct node_entry *entry);
/* Sets every field of *entry, or c->bad. */
void manage_entry_get(struct get_cursor *c, struct node_entry *entry);

/* Completes a frame whose body is at out + WIRE_COMMON_BYTES. Returns the frame's length. */
size_t manage_seal(uint8_t type, uint16_t source, uint16_t target, size_t body_bytes,
		   struct mac *mac, uint8_t *out);
/* manage_seal() for a request; `key`, if not NULL, follows the body. `out` has
 * MANAGE_FRAME_BYTES. */
size_t manage_seal_keyed(uint8_t type, uint16_t source, size_t body_bytes, const uint8_t *key,
			 struct mac *mac, uint8_t *out);

#endif
