/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the two halves of the management codec only: one row of the table, and the frame around
 * a body. */
#ifndef WIRE_MANAGE_ENTRY_H
#define WIRE_MANAGE_ENTRY_H

#include "wire/cursor.h"
#include "wire/manage.h"

void manage_entry_put(struct put_cursor *c, const struct node_entry *entry);
/* Sets c->bad when a field holds what it must not. Every field of *entry is written or c->bad is
 * set. */
void manage_entry_take(struct take_cursor *c, struct node_entry *entry);

/* Completes the frame whose body of body_bytes lies at out + WIRE_COMMON_BYTES. */
size_t manage_seal(uint8_t type, uint16_t source, uint16_t target, size_t body_bytes,
		   struct mac *mac, uint8_t *out);

#endif
