/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of bytes as ranges [start, end) in order that neither overlap nor touch, so that it is as
 * short as it can be. Pure. */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint64_t start, end;
};

/* Zeroed: the empty set. */
struct ranges {
	struct range *at;
	uint32_t count, room;
};

void ranges_free(struct ranges *r);
/* Room for `more` ranges than there are: a change needs one at most. False: no memory. */
bool ranges_reserve(struct ranges *r, uint32_t more);
/* Empty ranges are allowed. False: no memory, and nothing has changed; never where there was room.
 */
bool ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end);
/* The first part of [start, end) that is in the set. */
bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out);
/* All of [start, end). */
bool ranges_has(const struct ranges *r, uint64_t start, uint64_t end);

#endif
