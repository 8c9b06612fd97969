/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies an arriving message, piece by piece, into memory that is not in the cache. A store to a
 * cache line that is not in the cache waits. So each copy prefetches the destination of the next
 * piece. On Zen 5, a copy of 1408 bytes to uncached memory takes 44 ns instead of 80 ns. A copy to
 * cached memory takes 27 ns instead of 23 ns. Non-temporal stores take 35 ns, but then a later
 * reader waits for memory. */
#ifndef BASE_PAYLOAD_H
#define BASE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

#define PAYLOAD_LINE_BYTES 64
#define PAYLOAD_AHEAD_MIN  512 /* bytes; prefetching does not speed up shorter pieces */

/* Copies a piece to `to`. The next `space` bytes after the piece belong to the same message, so the
 * next piece most likely goes there. */
static inline void payload_place(uint8_t *to, const uint8_t *from, size_t bytes, uint64_t space)
{
	size_t ahead = bytes >= PAYLOAD_AHEAD_MIN ? min_u64(bytes, space) : 0;

	for (size_t i = 0; i < ahead; i += PAYLOAD_LINE_BYTES)
		__builtin_prefetch(to + bytes + i, 1);
	memcpy(to, from, bytes);
}

#endif
