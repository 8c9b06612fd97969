/* SPDX-License-Identifier: BSD-3-Clause */
/* Message ring in memory that two processes may share: one producer, one consumer, in order.
 *
 * Invariant: 0 <= tail - head <= WORKER_RING_BYTES; `tail` counts all bytes ever written, `head`
 * all bytes ever read. A message is contiguous: near the end of the ring it extends into the space
 * behind the ring.
 *
 * Trust: each side keeps its own index privately, and accepts the other side's index only within
 * the invariant. The consumer copies a message before it checks the copy. So a side that writes
 * invalid data harms only itself. */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* bytes of the ring, without the space behind it */
#define WORKER_RING_BYTES    (256u << 10)
#define WORKER_MESSAGE_BYTES (16u << 10) /* bytes of the longest message, head included */

struct worker_head {
	/* size of the whole message; the next message starts at the next multiple of 8 */
	uint32_t bytes;
	uint32_t kind;
};

struct worker_ring {
	alignas(64) _Atomic uint64_t tail;   /* written by the producer only */
	alignas(64) _Atomic uint64_t head;   /* written by the consumer only */
	alignas(64) _Atomic uint32_t sleeps; /* 1: the consumer sleeps, or is about to */
	alignas(64) uint8_t data[WORKER_RING_BYTES + WORKER_MESSAGE_BYTES];
};

/* Private state of one side of a ring. */
struct worker_side {
	struct worker_ring *ring;
	uint64_t at; /* the producer's tail, or the consumer's head */
};

/* Producer: appends a message: a head with its length, then two parts. Returns false if the ring
 * has no space now. */
struct worker_parts {
	const void *first, *second;
	uint32_t first_bytes, second_bytes;
};
bool worker_put(struct worker_side *e, uint32_t kind, const struct worker_parts *parts);
/* Producer, after worker_put(): returns true once if the consumer sleeps. The caller must then wake
 * the consumer. */
bool worker_sleeps(struct worker_side *e);

/* Consumer: copies the next message with its head to `out` (WORKER_MESSAGE_BYTES). Returns the
 * message's length; 0: there is no message; -1: the producer's data is invalid. */
int worker_dequeue(struct worker_side *e, void *out);
/* Consumer: returns true if there is a message. */
bool worker_ready(const struct worker_side *e);
/* Consumer: announces that it will sleep. Returns false if there is a message; the consumer must
 * then not sleep. */
bool worker_sleep_announce(struct worker_side *e);
void worker_sleep_end(struct worker_side *e);

/* Consumer with its own thread or process: spins for spin_ns, then sleeps until there is a
 * message. */
void worker_wait(struct worker_side *e, uint32_t spin_ns);
/* Producer: wakes a consumer that sleeps in worker_wait(). Returns false if the consumer does not
 * sleep. */
bool worker_wake(struct worker_side *e);

#endif
