/* SPDX-License-Identifier: BSD-3-Clause */
/* LEB128: 7 bits per byte, lowest first, bit 7 set in all but the last. */
#ifndef WIRE_LEB128_H
#define WIRE_LEB128_H

#include "wire/cursor.h"

#define LEB128_BYTES 10 /* longest number of 64 bits */

static inline void leb128_put(struct put_cursor *c, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_8(c, (uint8_t)(v | 0x80));
	put_8(c, (uint8_t)v);
}

/* Rejects more than 64 bits, or an encoding longer than needed. */
static inline uint64_t leb128_get(struct get_cursor *c)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < LEB128_BYTES && !c->bad; i++) {
		uint8_t byte = get_8(c);
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		c->bad |= (i > 0 && byte == 0) || (i == LEB128_BYTES - 1 && byte > 1);
		return v;
	}
	c->bad = true;
	return 0;
}

#endif
