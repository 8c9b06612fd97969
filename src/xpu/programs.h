/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's programs by id, and in the order in which they were built. Holds no memory but its
 * index, and has no bound of its own: the caller counts what programs take. One thread. */
#ifndef XPU_PROGRAMS_H
#define XPU_PROGRAMS_H

#include <stdint.h>

/* In each program. The table owns all fields but `id`. */
struct program_entry {
	struct program_entry *newer, *older;
	struct program_entry *chain; /* of its bucket */
	uint32_t id;
};

#define PROGRAMS_FEW 16 /* buckets of most hosts, which have a program or two: no allocation */

/* Zeroed: empty. Finding takes the same time however many there are, where there is memory for the
 * index to grow. */
struct programs {
	struct program_entry *newest, *oldest;
	struct program_entry **buckets; /* NULL: `few` */
	uint32_t bucket_count;          /* a power of two */
	uint32_t count;
	struct program_entry *few[PROGRAMS_FEW];
};

/* As the newest. Its id is no other's. */
void programs_add(struct programs *p, struct program_entry *e);
/* It is there. */
void programs_remove(struct programs *p, struct program_entry *e);
/* NULL: there is none. */
struct program_entry *programs_find(const struct programs *p, uint32_t id);
/* Gives up the index; entries are the caller's. */
void programs_clear(struct programs *p);

#endif
