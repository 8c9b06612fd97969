/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair numbers of one address, with a pointer for each number. A freed number is used again
 * as late as possible. */
#ifndef RC_TABLE_H
#define RC_TABLE_H

#include <stdint.h>

struct rc_table {
	void **entries; /* NULL: the number is free */
	uint32_t space, used, cursor;
};

/* Finds a free number, stores the pointer under it and returns it. Returns 0 if memory is short or
 * no number is free. */
uint32_t rc_table_add(struct rc_table *t, void *entry);
void rc_table_remove(struct rc_table *t, uint32_t number);
void *rc_table_find(const struct rc_table *t, uint32_t number);
void rc_table_close(struct rc_table *t);

#endif
