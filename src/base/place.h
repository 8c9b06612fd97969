/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying a message that arrives in pieces into memory that has left the cache. A store to a line
 * that is not there waits for it; so while a piece is copied the place of the next one is asked
 * for. 1408 bytes into memory: 44 instead of 80 ns, into the cache: 27 instead of 23 (Zen 5).
 * Stores past the cache take 35, but then whoever reads the data waits for memory. */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

#define PLACE_LINE_BYTES 64
#define PLACE_AHEAD_MIN  512 /* shorter pieces are soon done anyway */

/* `room` bytes behind the piece belong to the same message: the next piece goes there, most likely.
 */
static inline void place(uint8_t *to, const uint8_t *from, size_t bytes, uint64_t room)
{
	size_t ahead = bytes >= PLACE_AHEAD_MIN ? min_u64(bytes, room) : 0;

	for (size_t i = 0; i < ahead; i += PLACE_LINE_BYTES)
		__builtin_prefetch(to + bytes + i, 1);
	memcpy(to, from, bytes);
}

#endif
