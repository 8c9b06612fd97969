/* SPDX-License-Identifier: BSD-3-Clause */
#include "rc/table.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rc/limits.h"

#define SPACE_MIN 64

static void grow(struct rc_table *t)
{
	uint32_t space = t->space ? 2 * t->space : SPACE_MIN;
	void **entries;

	if (space > RC_TABLE_MAX)
		return;
	entries = realloc(t->entries, space * sizeof(*entries));
	if (!entries)
		return;
	memset(entries + t->space, 0, (space - t->space) * sizeof(*entries));
	t->entries = entries;
	t->space = space;
}

uint32_t rc_table_add(struct rc_table *t, void *entry)
{
	assert(entry);
	/* Keeps at most half of the entries in use, so that the search finds a free one soon. Only
	 * a table of maximum size, or one that could not grow, gets fuller. */
	if (2 * t->used >= t->space)
		grow(t);
	if (t->used == t->space)
		return 0;
	while (t->entries[t->cursor])
		t->cursor = (t->cursor + 1) % t->space;
	uint32_t index = t->cursor;
	t->entries[index] = entry;
	t->cursor = (index + 1) % t->space;
	t->used++;
	return RC_NUMBER_MIN + index;
}

void rc_table_remove(struct rc_table *t, uint32_t number)
{
	assert(rc_table_find(t, number));
	t->entries[number - RC_NUMBER_MIN] = NULL;
	t->used--;
}

void *rc_table_find(const struct rc_table *t, uint32_t number)
{
	uint32_t index = number - RC_NUMBER_MIN;

	return index < t->space ? t->entries[index] : NULL;
}

void rc_table_close(struct rc_table *t)
{
	free(t->entries);
	*t = (struct rc_table){0};
}
