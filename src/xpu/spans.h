/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of addresses, as ranges. Invariant: they are ordered, and there is a gap between two. */
#ifndef XPU_SPANS_H
#define XPU_SPANS_H

#include <stdbool.h>
#include <stdint.h>

struct span {
	uint64_t from, end;
};

/* Zeroed: empty. */
struct spans {
	struct span *list;
	uint32_t count, room;
};

void spans_free(struct spans *s);

/* False: out of memory; nothing has changed. */
bool spans_add(struct spans *s, uint64_t from, uint64_t end);
bool spans_remove(struct spans *s, uint64_t from, uint64_t end);

/* Of the first one that ends beyond `address`; NULL: there is none. */
const struct span *spans_from(const struct spans *s, uint64_t address);

#endif
