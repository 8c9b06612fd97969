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
/* bytes of a longer piece copied at once, so that prefetched lines stay in the first cache */
#define PAYLOAD_PART_BYTES 8896

/* The next `space` bytes are of the same message, so the next piece probably goes there. */
static inline void payload_place(uint8_t *to, const uint8_t *from, size_t bytes, uint64_t space)
{
	size_t left = bytes;

	while (left > 0) {
		size_t part = min_u64(left, PAYLOAD_PART_BYTES);
		size_t ahead = part >= PAYLOAD_AHEAD_MIN ? min_u64(part, left - part + space) : 0;
		for (size_t i = 0; i < ahead; i += PAYLOAD_LINE_BYTES)
			__builtin_prefetch(to + part + i, 1);
		memcpy(to, from, part);
		to += part;
		from += part;
		left -= part;
	}
}

#endif
