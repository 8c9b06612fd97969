/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded cursors that write and read fields in sequence. A field that does not fit or is invalid
 * sets `bad` and stops the cursor; callers check it once, after the last field. */
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

static inline uint8_t *put_raw(struct put_cursor *c, size_t bytes)
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
	uint8_t *at = put_raw(c, bytes);

	if (at)
		memcpy(at, from, bytes);
}

static inline void put_8(struct put_cursor *c, uint8_t v)
{
	put_bytes(c, &v, 1);
}

static inline void put_16(struct put_cursor *c, uint16_t v)
{
	uint8_t *at = put_raw(c, 2);

	if (at)
		put_be16(at, v);
}

static inline void put_32(struct put_cursor *c, uint32_t v)
{
	uint8_t *at = put_raw(c, 4);

	if (at)
		put_be32(at, v);
}

static inline void put_64(struct put_cursor *c, uint64_t v)
{
	uint8_t *at = put_raw(c, 8);

	if (at)
		put_be64(at, v);
}

/* One byte of length, then at most 255 characters. */
static inline void put_text(struct put_cursor *c, const char *text)
{
	size_t bytes = strlen(text);

	put_8(c, (uint8_t)bytes);
	put_bytes(c, text, bytes);
}

struct get_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline const uint8_t *get_raw(struct get_cursor *c, size_t bytes)
{
	const uint8_t *at = c->at;

	if (c->bad || (size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return NULL;
	}
	c->at += bytes;
	return at;
}

static inline void get_bytes(struct get_cursor *c, void *to, size_t bytes)
{
	const uint8_t *at = get_raw(c, bytes);

	if (at)
		memcpy(to, at, bytes);
}

static inline uint8_t get_8(struct get_cursor *c)
{
	const uint8_t *at = get_raw(c, 1);

	return at ? *at : 0;
}

static inline uint16_t get_16(struct get_cursor *c)
{
	const uint8_t *at = get_raw(c, 2);

	return at ? get_be16(at) : 0;
}

static inline uint32_t get_32(struct get_cursor *c)
{
	const uint8_t *at = get_raw(c, 4);

	return at ? get_be32(at) : 0;
}

static inline uint64_t get_64(struct get_cursor *c)
{
	const uint8_t *at = get_raw(c, 8);

	return at ? get_be64(at) : 0;
}

/* Sets `bad` if it does not fit with its final zero, or has control characters. */
static inline void get_text(struct get_cursor *c, char *to, size_t to_bytes)
{
	size_t bytes = get_8(c);
	const uint8_t *at = get_raw(c, bytes);

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

/* All fields are valid, and no bytes remain. */
static inline bool get_done(const struct get_cursor *c)
{
	return !c->bad && c->at == c->end;
}

#endif
