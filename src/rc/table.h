/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns queue pair numbers at one address, and finds the pointer that belongs to a number. A
 * freed number is reused as late as possible. */
#ifndef RC_TABLE_H
#define RC_TABLE_H

#include <stdint.h>

struct rc_table {
	void **entries; /* NULL: free */
	uint32_t space, used, cursor;
};

/* Returns the number of the new entry; 0: no memory, or no number is free. */
uint32_t rc_table_add(struct rc_table *t, void *entry);
void rc_table_remove(struct rc_table *t, uint32_t number);
void *rc_table_find(const struct rc_table *t, uint32_t number);
void rc_table_close(struct rc_table *t);

#endif
