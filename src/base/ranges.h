/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of bytes as sorted ranges [start, end) that neither overlap nor touch. No I/O. */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint64_t start, end;
};

/* Zeroed: empty. */
struct ranges {
	struct range *at;
	uint32_t count, space;
};

void ranges_free(struct ranges *r);
/* Reserves memory; each change needs at most one more range. Returns false if memory is short. */
bool ranges_reserve(struct ranges *r, uint32_t more);
/* Add or remove a range, which may be empty. Without memory, they return false and change nothing;
 * after ranges_reserve() they cannot fail. */
bool ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end);
/* Finds the first part of [start, end) in the set. Returns false if there is none. */
bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out);
/* Returns true if all of [start, end) is in the set. */
bool ranges_has(const struct ranges *r, uint64_t start, uint64_t end);

#endif
