/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by board_dma.c (what the user of the controllers calls) and board_controller.c (what their
 * threads do). All is guarded by board_dma.lock unless it says otherwise; it is free while bytes
 * are moved and while the user's interrupt is called. */
#ifndef ENGINE_BOARD_INTERNAL_H
#define ENGINE_BOARD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/board_dma.h"

struct board_job {
	struct engine_dma dma;
	uint64_t begins_ns; /* its first byte passes not before */
	uint64_t due_ns;    /* once `passed`: its end is told not before */
	uint64_t moved;     /* bytes */
	uint64_t last;      /* move so many; fewer than all when it is to fail or stall */
	uint32_t reset;     /* board_dma.resets when it was started; else it is stale */
	uint32_t twin;      /* THROUGH, in Tx's ring: its place in Rx's */
	bool stalls, fails;
	bool passed; /* THROUGH, in Rx's ring: Tx moves nothing for it any more */
	int status;
	struct board_core_task task; /* THROUGH that is `first` */
};

/* Invariant: head <= next <= tail, tail - head <= queue, counting DMAs ever taken: those before
 * `next` have passed and wait for their interrupt, `next` is under way, the rest waits for it. */
struct board_controller {
	struct board_dma *board;
	pthread_t thread;
	pthread_cond_t wake;
	_Atomic uint32_t kicks; /* how often it was woken; read without the lock too */
	uint64_t rate;          /* MB/s, 0: unlimited; never written after the start */
	uint64_t clock_ns; /* when the last byte moved has passed, on the board that is played */
	bool asleep;       /* its thread: others may move bytes for it */
	bool moving;       /* somebody does, without the lock; the DMA under way is theirs */
	uint32_t head, next, tail;
	struct board_job jobs[BOARD_QUEUE_MAX];
};

struct board_dma {
	struct board_dma_options options; /* `config` is not kept */
	uint64_t latency_ns, interrupt_ns, memory_rate, fail, stall;
	uint32_t queue;
	pthread_mutex_t lock;
	bool stop;
	uint32_t resets;
	uint64_t started;         /* DMAs ever, which numbers them from 1 */
	uint64_t memory_clock_ns; /* as clock_ns, of the memory that all share */
	struct board_controller tx, rx;
	struct engine_dma_end ends[BOARD_ENDS_MAX]; /* a ring */
	uint32_t end_head;
	_Atomic uint32_t end_count; /* read without the lock too */
};

/* The threads' function; `argument` is a struct board_controller. */
void *board_controller_main(void *argument);

/* Caller holds the lock. Does what its thread would, at most one slice of a DMA, while that sleeps
 * or has not come to run yet; ends are told without an interrupt. False: there was nothing to do.
 */
bool board_controller_help(struct board_controller *c);

/* Caller holds the lock: there is something new for it. */
static inline void board_controller_kick(struct board_controller *c)
{
	atomic_fetch_add_explicit(&c->kicks, 1, memory_order_release);
	pthread_cond_signal(&c->wake);
}

static inline struct board_job *board_job_at(struct board_controller *c, uint32_t place)
{
	return &c->jobs[place % BOARD_QUEUE_MAX];
}

#endif
