/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies an arriving message into uncached memory. A store to such a line waits, so each copy
 * prefetches the next piece's destination: 1408 bytes take 44 instead of 80 ns (cached 27 instead
 * of 23) on Zen 5. Non-temporal stores take 35 ns, but the reader then waits. */
#ifndef BASE_PAYLOAD_H
#define BASE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

#define PAYLOAD_LINE_BYTES 64
#define PAYLOAD_AHEAD_MIN  512 /* prefetching does not speed up shorter pieces */

/* Copies a piece. The next `space` bytes are of the same message, so the next piece probably goes
 * there. */
static inline void payload_place(uint8_t *to, const uint8_t *from, size_t bytes, uint64_t space)
{
	size_t ahead = bytes >= PAYLOAD_AHEAD_MIN ? min_u64(bytes, space) : 0;

	for (size_t i = 0; i < ahead; i += PAYLOAD_LINE_BYTES)
		__builtin_prefetch(to + bytes + i, 1);
	memcpy(to, from, bytes);
}

#endif
