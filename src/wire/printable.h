/* SPDX-License-Identifier: BSD-3-Clause */
/* ASCII without control characters, for terminals. */
#ifndef WIRE_PRINTABLE_H
#define WIRE_PRINTABLE_H

#include <assert.h>
#include <string.h>

#include "wire/cursor.h"

#define PRINTABLE_BYTES 256 /* longest field, with the final zero */

static inline bool printable(char letter)
{
	return letter >= 0x20 && letter < 0x7f;
}

/* Writes a field of `space` bytes, the final zero included; '?' replaces unprintable characters. */
static inline void printable_put(struct put_cursor *c, const char *text, size_t space)
{
	char copy[PRINTABLE_BYTES];
	size_t bytes = strnlen(text, space - 1);

	assert(space <= sizeof(copy));
	for (size_t i = 0; i < bytes; i++)
		copy[i] = (char)(printable(text[i]) ? text[i] : '?');
	copy[bytes] = '\0';
	put_text(c, copy);
}

/* Rejects an unprintable character. */
static inline void printable_get(struct get_cursor *c, char *text, size_t space)
{
	text[0] = '\0';
	get_text(c, text, space);
	for (size_t i = 0; text[i] && !c->bad; i++)
		c->bad = !printable(text[i]);
}

#endif
