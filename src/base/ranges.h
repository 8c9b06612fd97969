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
/* Each change needs at most one more range. False: memory is short. */
bool ranges_reserve(struct ranges *r, uint32_t more);
/* A range may be empty. False: memory is short, nothing changes; impossible after
 * ranges_reserve(). */
bool ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end);
/* The first part of [start, end) in the set. */
bool ranges_next(const struct ranges *r, uint64_t start, uint64_t end, struct range *out);
bool ranges_has(const struct ranges *r, uint64_t start, uint64_t end);

#endif
