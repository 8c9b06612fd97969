/* SPDX-License-Identifier: BSD-3-Clause */
/* Message ring in memory that two processes may share: one producer, one consumer, in order.
 *
 * Invariant: 0 <= tail - head <= CELL_RING_BYTES; both count bytes ever written and read. A message
 * is contiguous: near the end of the ring it extends into the space behind it. Trust: each side
 * keeps its own index privately and accepts the other's only within the invariant. The consumer
 * copies a message before it checks it, so a side that writes nonsense harms only itself. */
#ifndef CELL_RING_H
#define CELL_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CELL_RING_BYTES    (256u << 10)
#define CELL_MESSAGE_BYTES (16u << 10) /* maximum, head included */

struct cell_head {
	uint32_t bytes; /* of the whole message; the next starts at a multiple of 8 */
	uint32_t kind;
};

struct cell_ring {
	alignas(64) _Atomic uint64_t tail;   /* written by the producer only */
	alignas(64) _Atomic uint64_t head;   /* written by the consumer only */
	alignas(64) _Atomic uint32_t sleeps; /* 1: the consumer sleeps, or is about to */
	alignas(64) uint8_t data[CELL_RING_BYTES + CELL_MESSAGE_BYTES];
};

/* One side's private state. */
struct cell_side {
	struct cell_ring *ring;
	uint64_t at; /* the producer's tail, or the consumer's head */
};

/* Producer: appends a message of two parts behind a head with its length. Returns false if there is
 * no space now. */
struct cell_parts {
	const void *first, *second;
	uint32_t first_bytes, second_bytes;
};
bool cell_put(struct cell_side *e, uint32_t kind, const struct cell_parts *parts);
/* Producer, after cell_put: returns true once if the consumer sleeps; the caller must wake it. */
bool cell_sleeps(struct cell_side *e);

/* Consumer: copies the next message with its head to `out` (CELL_MESSAGE_BYTES). Returns its bytes;
 * 0: none; -1: the producer's data is invalid. */
int cell_take(struct cell_side *e, void *out);
/* Consumer: returns true if there is a message. */
bool cell_ready(const struct cell_side *e);
/* Consumer: announces sleep. Returns false if there is a message; then it must not sleep. */
bool cell_sleep_announce(struct cell_side *e);
void cell_sleep_end(struct cell_side *e);

/* Consumer with a thread or process of its own: spins, then sleeps until there is a message. */
void cell_wait(struct cell_side *e, uint32_t spin_ns);
/* Producer: wakes a consumer in cell_wait. Returns false if it does not sleep. */
bool cell_wake(struct cell_side *e);

#endif
