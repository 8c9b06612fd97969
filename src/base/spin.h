/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a wait should spin before it sleeps. Spinning pays when what is awaited comes within
 * about the time that a wake-up takes; where it keeps coming later, the spinner only takes a core
 * from whoever is at work. So each wait that lasted longer halves the next spin, down to 1/32, and
 * each shorter one makes it four times as long, up to twice the full time. */
#ifndef BASE_SPIN_H
#define BASE_SPIN_H

#include <stdint.h>

struct spin {
	uint32_t full_ns;   /* 0: never spin */
	uint32_t budget_ns; /* of the next wait */
};

static inline void spin_init(struct spin *s, uint32_t full_ns)
{
	s->full_ns = full_ns;
	s->budget_ns = full_ns;
}

/* A wait has ended after `waited_ns`, with something to do. */
static inline void spin_note(struct spin *s, uint64_t waited_ns)
{
	uint64_t most = 2ull * s->full_ns, least = s->full_ns / 32;
	uint64_t budget = waited_ns <= most ? 4ull * s->budget_ns : s->budget_ns / 2;

	s->budget_ns = (uint32_t)(budget > most ? most : budget < least ? least : budget);
}

#endif
