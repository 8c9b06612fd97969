/* SPDX-License-Identifier: BSD-3-Clause */
/* Message ring in memory that two processes may share: one producer, one consumer, in order.
 *
 * Invariant: 0 <= tail - head <= WORKER_RING_BYTES; both count bytes ever written and read. A
 * message is contiguous: near the end of the ring it extends into the space behind it. Trust: each
 * side keeps its own index privately and accepts the other's only within the invariant. The
 * consumer copies a message before it checks it, so a side that writes invalid data harms only
 * itself.
 */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKER_RING_BYTES    (256u << 10)
#define WORKER_MESSAGE_BYTES (16u << 10) /* maximum, head included */

struct worker_head {
	uint32_t bytes; /* size of the whole message; the next starts at a multiple of 8 */
	uint32_t kind;
};

struct worker_ring {
	alignas(64) _Atomic uint64_t tail;   /* written by the producer only */
	alignas(64) _Atomic uint64_t head;   /* written by the consumer only */
	alignas(64) _Atomic uint32_t sleeps; /* 1: the consumer sleeps, or is about to */
	alignas(64) uint8_t data[WORKER_RING_BYTES + WORKER_MESSAGE_BYTES];
};

/* One side's private state. */
struct worker_side {
	struct worker_ring *ring;
	uint64_t at; /* the producer's tail, or the consumer's head */
};

/* Producer: appends a message of two parts behind a head with its length. Returns false if there is
 * no space now. */
struct worker_parts {
	const void *first, *second;
	uint32_t first_bytes, second_bytes;
};
bool worker_put(struct worker_side *e, uint32_t kind, const struct worker_parts *parts);
/* Producer, after worker_put: returns true once if the consumer sleeps; the caller must wake it. */
bool worker_sleeps(struct worker_side *e);

/* Consumer: copies the next message with its head to `out` (WORKER_MESSAGE_BYTES). Returns its
 * bytes; 0: none; -1: the producer's data is invalid. */
int worker_dequeue(struct worker_side *e, void *out);
/* Consumer: returns true if there is a message. */
bool worker_ready(const struct worker_side *e);
/* Consumer: announces sleep. Returns false if there is a message; then it must not sleep. */
bool worker_sleep_announce(struct worker_side *e);
void worker_sleep_end(struct worker_side *e);

/* Consumer with a thread or process of its own: spins, then sleeps until there is a message. */
void worker_wait(struct worker_side *e, uint32_t spin_ns);
/* Producer: wakes a consumer in worker_wait. Returns false if it does not sleep. */
bool worker_wake(struct worker_side *e);

#endif
