/* SPDX-License-Identifier: BSD-3-Clause */
/* Message ring that two processes may share: one producer, one consumer, in order.
 *
 *  Invariant: 0 <= tail - head <= WORKER_RING_BYTES; they count all bytes ever written and read. A
 *  message is contiguous: at the end of the ring it extends behind it.
 *
 *  Each side keeps its own index privately, and accepts the other's only within the invariant. The
 *  consumer copies a message before it checks the copy. So invalid data harms only its writer. */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* without the space behind it */
#define WORKER_RING_BYTES    (256u << 10)
#define WORKER_MESSAGE_BYTES (16u << 10) /* of the longest message, with head */

struct worker_head {
	/* of the message; the next one starts at the next multiple of 8 */
	uint32_t bytes;
	uint32_t kind;
};

struct worker_ring {
	alignas(64) _Atomic uint64_t tail;   /* written by the producer */
	alignas(64) _Atomic uint64_t head;   /* written by the consumer */
	alignas(64) _Atomic uint32_t sleeps; /* 1: the consumer sleeps, or is about to */
	alignas(64) uint8_t data[WORKER_RING_BYTES + WORKER_MESSAGE_BYTES];
};

/* Private to one side. */
struct worker_side {
	struct worker_ring *ring;
	uint64_t at; /* the producer's tail, or the consumer's head */
};

/* Producer: appends a head with the length, then two parts. False: no space now. */
struct worker_parts {
	const void *first, *second;
	uint32_t first_bytes, second_bytes;
};
bool worker_put(struct worker_side *e, uint32_t kind, const struct worker_parts *parts);
/* Producer, after worker_put(): true once if the consumer sleeps and must be woken. */
bool worker_sleeps(struct worker_side *e);

/* Consumer: copies the next message with its head to `out` (WORKER_MESSAGE_BYTES). Returns its
 * length; 0: none; -1: the producer's data is invalid. */
int worker_dequeue(struct worker_side *e, void *out);
bool worker_ready(const struct worker_side *e);
/* Consumer: false: there is a message, so do not sleep. */
bool worker_sleep_announce(struct worker_side *e);
void worker_sleep_end(struct worker_side *e);

/* Consumer with its own thread or process: spins for spin_ns, then sleeps until there is a
 * message. */
void worker_wait(struct worker_side *e, uint32_t spin_ns);
/* Producer: wakes the consumer. False if the consumer does not sleep in worker_wait(). */
bool worker_wake(struct worker_side *e);

#endif
