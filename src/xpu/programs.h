/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's programs, by id and by age. Allocates only its index. For one thread. */
#ifndef XPU_PROGRAMS_H
#define XPU_PROGRAMS_H

#include <stdint.h>

/* Part of the caller's struct; the caller sets `id`. */
struct program_entry {
	struct program_entry *newer, *older;
	struct program_entry *chain; /* in the bucket */
	uint32_t id;
};

#define PROGRAMS_FEW 16 /* without allocation: most hosts have one or two programs */

/* All zero: empty. Lookups take constant time, unless memory for the index was short. */
struct programs {
	struct program_entry *newest, *oldest;
	struct program_entry **buckets; /* NULL: `few` is used */
	uint32_t bucket_count;          /* a power of two */
	uint32_t count;
	struct program_entry *few[PROGRAMS_FEW];
};

/* The entry becomes the newest; its id is new. */
void programs_add(struct programs *p, struct program_entry *e);
void programs_remove(struct programs *p, struct program_entry *e);
struct program_entry *programs_find(const struct programs *p, uint32_t id);
/* The entries remain the caller's. */
void programs_clear(struct programs *p);

#endif
