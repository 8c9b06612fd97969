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
/* Each change needs at most one more range. false: no memory. */
bool ranges_reserve(struct ranges *r, uint32_t more);
/* The range may be empty. Without memory, false and no change; after ranges_reserve() they cannot
 * fail. */
bool ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end);
/* First part of [start, end) in the set; false: none. */
bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out);
/* All of [start, end). */
bool ranges_has(const struct ranges *r, uint64_t start, uint64_t end);

#endif
