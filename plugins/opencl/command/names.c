/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of dxp events that have not completed, as a hash table with open addressing, at most half
 * full. */
#include <stdlib.h>

#include "plugins/opencl/command/complete.h"

#define NAMES_MIN 256

static dxp_event *entries; /* 0: free entry */
static size_t space, used;

static size_t offset_of(dxp_event event, size_t size)
{
	return (size_t)((event * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);
}

static void put(dxp_event *table, size_t size, dxp_event event)
{
	size_t at = offset_of(event, size);

	while (table[at])
		at = (at + 1) & (size - 1);
	table[at] = event;
}

static bool grow(void)
{
	size_t size = space ? space * 2 : NAMES_MIN;
	dxp_event *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < space; i++)
		if (entries[i])
			put(table, size, entries[i]);
	free(entries);
	entries = table;
	space = size;
	return true;
}

bool names_add(dxp_event event)
{
	if (used * 2 >= space && !grow())
		return false;
	put(entries, space, event);
	used++;
	return true;
}

static size_t find(dxp_event event)
{
	size_t at = offset_of(event, space);

	while (entries[at] && entries[at] != event)
		at = (at + 1) & (space - 1);
	return at;
}

bool names_has(dxp_event event)
{
	return event && used && entries[find(event)] == event;
}

void names_remove(dxp_event event)
{
	if (!names_has(event))
		return;
	size_t hole = find(event);
	entries[hole] = 0;
	used--;
	/* find() stops at the first free entry, so it would miss an entry that stands after the
	 * hole because the hole was occupied. Inserts all entries up to the next free one again. */
	for (size_t at = (hole + 1) & (space - 1); entries[at]; at = (at + 1) & (space - 1)) {
		dxp_event moved = entries[at];
		entries[at] = 0;
		put(entries, space, moved);
	}
}
