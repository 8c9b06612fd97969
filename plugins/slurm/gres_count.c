/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "plugins/slurm/gres.h"

#define COUNT_MAX 1000000u /* more xPUs than any fabric has */

/* Reads one entry: [gres:]NAME[:TYPE][:COUNT]; without COUNT it is 1. */
static unsigned entry_count(const char *entry, size_t length, const char *name)
{
	static const char mark[] = "gres:";
	const size_t mark_bytes = sizeof(mark) - 1, name_bytes = strlen(name);

	if (length >= mark_bytes && strncmp(entry, mark, mark_bytes) == 0) {
		entry += mark_bytes;
		length -= mark_bytes;
	}
	if (length < name_bytes || strncmp(entry, name, name_bytes) != 0 ||
	    (length > name_bytes && entry[name_bytes] != ':'))
		return 0;
	size_t last = length;
	while (last > 0 && entry[last - 1] != ':')
		last--;
	if (last == 0 || strspn(entry + last, "0123456789") != length - last)
		return 1;
	const unsigned long count = strtoul(entry + last, NULL, 10);
	return count > COUNT_MAX ? COUNT_MAX : (unsigned)count;
}

unsigned gres_count(const char *list, const char *name)
{
	unsigned sum = 0;

	while (list && *list) {
		const size_t length = strcspn(list, ",;");
		sum += entry_count(list, length, name);
		list += length + (list[length] != '\0');
	}
	return sum > COUNT_MAX ? COUNT_MAX : sum;
}
