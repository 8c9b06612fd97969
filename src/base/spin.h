/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapts how long a wait spins before it sleeps. Spinning helps only if the event comes within
 * about the time of a wakeup; otherwise it uses a core that working threads need. A wait that is
 * longer than twice the full time halves the next spin, down to 1/32 of the full time. A shorter
 * wait quadruples the next spin, up to twice the full time. */
#ifndef BASE_SPIN_H
#define BASE_SPIN_H

#include <stdint.h>

struct spin {
	uint32_t full_ns;   /* ns; spin time of the first wait; 0: waits do not spin */
	uint32_t budget_ns; /* ns; spin time of the next wait */
};

static inline void spin_init(struct spin *s, uint32_t full_ns)
{
	s->full_ns = full_ns;
	s->budget_ns = full_ns;
}

/* Adapts the spin time of the next wait to a wait that took `waited_ns`. */
static inline void spin_note(struct spin *s, uint64_t waited_ns)
{
	uint64_t most = 2ull * s->full_ns, least = s->full_ns / 32;
	uint64_t budget = waited_ns <= most ? 4ull * s->budget_ns : s->budget_ns / 2;

	s->budget_ns = (uint32_t)(budget > most ? most : budget < least ? least : budget);
}

#endif
