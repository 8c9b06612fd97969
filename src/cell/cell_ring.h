/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one side of a cell to the other, in memory that two processes may share: one
 * producer, one consumer, in order.
 *
 * Invariant: 0 <= tail - head <= CELL_RING_BYTES, both count bytes ever put in and taken out. A
 * message lies in one piece: one that begins before the end may reach into the room behind it.
 * Trust: each side keeps its own index to itself and believes the other's only within the
 * invariant; what it takes, it copies first. So a side that writes nonsense deceives nobody but
 * itself. */
#ifndef CELL_RING_H
#define CELL_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CELL_RING_BYTES    (256u << 10)
#define CELL_MESSAGE_BYTES (16u << 10) /* at most, with its head */

/* What begins each message. */
struct cell_head {
	uint32_t bytes; /* of the whole message; the next begins at a multiple of 8 */
	uint32_t kind;
};

struct cell_ring {
	alignas(64) _Atomic uint64_t tail;   /* the producer writes it */
	alignas(64) _Atomic uint64_t head;   /* the consumer writes it */
	alignas(64) _Atomic uint32_t sleeps; /* 1: the consumer sleeps, or is about to */
	alignas(64) uint8_t data[CELL_RING_BYTES + CELL_MESSAGE_BYTES];
};

/* One side's view. */
struct cell_side {
	struct cell_ring *ring;
	uint64_t at; /* the producer's tail, or the consumer's head */
};

/* Producer: a message of two parts behind its head; `bytes` of the head is filled in. False: there
 * is no room now. */
struct cell_parts {
	const void *first, *second;
	uint32_t first_bytes, second_bytes;
};
bool cell_put(struct cell_side *e, uint32_t kind, const struct cell_parts *parts);
/* Producer, after cell_put: the consumer sleeps, and it is ours to wake it. Told once. */
bool cell_sleeps(struct cell_side *e);

/* Consumer: copies the next message, head and all; *out has room for CELL_MESSAGE_BYTES. Returns
 * its bytes; 0: there is none; -1: the producer writes nonsense. */
int cell_take(struct cell_side *e, void *out);
/* Is there something to take? */
bool cell_ready(const struct cell_side *e);
/* Consumer: about to sleep. False: there is something to take. */
bool cell_sleep_announce(struct cell_side *e);
void cell_sleep_end(struct cell_side *e);

/* A consumer that is a thread or a process of its own: spins, then sleeps until there is something.
 */
void cell_wait(struct cell_side *e, uint32_t spin_ns);
/* Producer: wakes one that sleeps in cell_wait; false: it did not. */
bool cell_wake(struct cell_side *e);

#endif
