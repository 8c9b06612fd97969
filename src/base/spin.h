/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a wait spins before it sleeps. Spinning pays only if the event comes within about a
 * wakeup. A wait above twice the full time halves the next spin, down to 1/32; a shorter one
 * quadruples it, up to twice the full time. */
#ifndef BASE_SPIN_H
#define BASE_SPIN_H

#include <stdint.h>

struct spin {
	uint32_t full_ns;   /* spin of the first wait; 0: none */
	uint32_t budget_ns; /* spin of the next wait */
};

static inline void spin_init(struct spin *s, uint32_t full_ns)
{
	s->full_ns = full_ns;
	s->budget_ns = full_ns;
}

/* Adapts the next spin to a wait of `waited_ns`. */
static inline void spin_note(struct spin *s, uint64_t waited_ns)
{
	uint64_t most = 2ull * s->full_ns, least = s->full_ns / 32;
	uint64_t budget = waited_ns <= most ? 4ull * s->budget_ns : s->budget_ns / 2;

	s->budget_ns = (uint32_t)(budget > most ? most : budget < least ? least : budget);
}

#endif
