/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's programs: by id, and in the order of their builds. Allocates memory only for its index;
 * the caller limits the memory of programs. One thread calls these functions. */
#ifndef XPU_PROGRAMS_H
#define XPU_PROGRAMS_H

#include <stdint.h>

/* A program in the table, as a part of the caller's struct. The caller sets `id`; the table owns
 * the other fields. */
struct program_entry {
	struct program_entry *newer, *older;
	struct program_entry *chain; /* next entry of the bucket */
	uint32_t id;
};

#define PROGRAMS_FEW 16 /* buckets without allocation: most hosts have one or two programs */

/* A table of programs; all zero: empty. A lookup needs constant time, unless memory for a larger
 * index was short. */
struct programs {
	struct program_entry *newest, *oldest;
	struct program_entry **buckets; /* NULL: `few` is used */
	uint32_t bucket_count;          /* number of buckets; a power of two */
	uint32_t count;
	struct program_entry *few[PROGRAMS_FEW];
};

/* Adds an entry, which becomes the newest one. No other entry of the table may have its id. */
void programs_add(struct programs *p, struct program_entry *e);
/* Removes an entry of the table. */
void programs_remove(struct programs *p, struct program_entry *e);
/* Returns the program with this id, or NULL. */
struct program_entry *programs_find(const struct programs *p, uint32_t id);
/* Frees the index. The entries remain the caller's. */
void programs_clear(struct programs *p);

#endif
