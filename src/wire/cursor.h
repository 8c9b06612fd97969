/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded cursors that write and read fields in sequence, for bodies with texts and thus without
 * fixed offsets. A field that does not fit, or has an invalid value, sets `bad`; the cursor then
 * stays put. Callers check `bad` once, at the end. */
#ifndef WIRE_CURSOR_H
#define WIRE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

struct put_cursor {
	uint8_t *at, *end;
	bool bad;
};

static inline uint8_t *put_room(struct put_cursor *c, size_t bytes)
{
	uint8_t *at = c->at;

	if (c->bad || (size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return NULL;
	}
	c->at += bytes;
	return at;
}

static inline void put_bytes(struct put_cursor *c, const void *from, size_t bytes)
{
	uint8_t *at = put_room(c, bytes);

	if (at)
		memcpy(at, from, bytes);
}

static inline void put_8(struct put_cursor *c, uint8_t v)
{
	put_bytes(c, &v, 1);
}

static inline void put_16(struct put_cursor *c, uint16_t v)
{
	uint8_t *at = put_room(c, 2);

	if (at)
		put_be16(at, v);
}

static inline void put_32(struct put_cursor *c, uint32_t v)
{
	uint8_t *at = put_room(c, 4);

	if (at)
		put_be32(at, v);
}

static inline void put_64(struct put_cursor *c, uint64_t v)
{
	uint8_t *at = put_room(c, 8);

	if (at)
		put_be64(at, v);
}

/* Writes one byte of length, then the characters; at most 255. */
static inline void put_text(struct put_cursor *c, const char *text)
{
	size_t bytes = strlen(text);

	put_8(c, (uint8_t)bytes);
	put_bytes(c, text, bytes);
}

struct take_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline const uint8_t *take_room(struct take_cursor *c, size_t bytes)
{
	const uint8_t *at = c->at;

	if (c->bad || (size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return NULL;
	}
	c->at += bytes;
	return at;
}

static inline void take_bytes(struct take_cursor *c, void *to, size_t bytes)
{
	const uint8_t *at = take_room(c, bytes);

	if (at)
		memcpy(to, at, bytes);
}

static inline uint8_t take_8(struct take_cursor *c)
{
	const uint8_t *at = take_room(c, 1);

	return at ? *at : 0;
}

static inline uint16_t take_16(struct take_cursor *c)
{
	const uint8_t *at = take_room(c, 2);

	return at ? get_be16(at) : 0;
}

static inline uint32_t take_32(struct take_cursor *c)
{
	const uint8_t *at = take_room(c, 4);

	return at ? get_be32(at) : 0;
}

static inline uint64_t take_64(struct take_cursor *c)
{
	const uint8_t *at = take_room(c, 8);

	return at ? get_be64(at) : 0;
}

/* Reads a text of put_text() into to[to_bytes]. Sets `bad` if it does not fit with its zero or has
 * control characters. */
static inline void take_text(struct take_cursor *c, char *to, size_t to_bytes)
{
	size_t bytes = take_8(c);
	const uint8_t *at = take_room(c, bytes);

	if (!at)
		return;
	if (bytes >= to_bytes) {
		c->bad = true;
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		c->bad |= at[i] < 0x20 || at[i] == 0x7f;
	if (c->bad)
		return;
	memcpy(to, at, bytes);
	to[bytes] = '\0';
}

/* Returns true if all fields were valid and no bytes are left. */
static inline bool take_done(const struct take_cursor *c)
{
	return !c->bad && c->at == c->end;
}

#endif
