/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by board_dma.c (calls of the user) and board_controller.c (the threads). board_dma.lock
 * guards everything unless stated otherwise; it is released for copies and for the user's
 * interrupt. */
#ifndef ENGINE_BOARD_INTERNAL_H
#define ENGINE_BOARD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/board_dma.h"
#include "engine/limits.h"

struct board_job {
	struct engine_dma dma;
	uint64_t begins_ns; /* earliest time of its first byte */
	uint64_t due_ns;    /* once all bytes have `passed`: earliest time of the completion */
	uint64_t moved;     /* bytes */
	/* bytes to move; fewer than all if the DMA is configured to fail or stall */
	uint64_t last;
	/* board_dma.resets at the start of the DMA; if they differ now, the DMA is stale */
	uint32_t reset;
	uint32_t twin; /* of a THROUGH in Tx's ring: its position in Rx's ring */
	bool stalls, fails;
	bool passed; /* of a THROUGH in Rx's ring: Tx has moved all its bytes */
	int status;
	struct board_core_task task; /* THROUGH with `first` */
};

/* Invariant: head <= next <= tail, tail - head <= queue, as counts of DMAs. Those below `next` wait
 * for their interrupt, `next` is running, later ones wait for it. */
struct board_controller {
	struct board_dma *board;
	pthread_t thread;
	pthread_cond_t wake;
	_Atomic uint32_t kicks; /* counts wakeups; also read without the lock */
	uint64_t rate;          /* MB/s, 0: unlimited; constant */
	uint64_t clock_ns;      /* modelled time at which the last byte moved has passed */
	bool sleeping;          /* the thread sleeps: other threads may move bytes for it */
	bool moving;            /* a thread moves bytes without the lock and owns the running DMA */
	uint32_t head, next, tail;
	struct board_job jobs[BOARD_QUEUE_MAX];
};

struct board_dma {
	struct board_dma_options options; /* `config` is not kept */
	uint64_t control_ns, latency_ns, interrupt_ns, through_rate, memory_rate, fail, stall;
	uint32_t queue;
	pthread_mutex_t lock;
	bool stop;
	uint32_t resets;
	uint64_t started;         /* number of DMAs so far; the first is 1 */
	uint64_t memory_clock_ns; /* modelled time at which the memory has passed the last byte */
	struct board_controller tx, rx;
	struct engine_dma_end ends[BOARD_ENDS_MAX]; /* a ring */
	uint32_t end_head;
	_Atomic uint32_t end_count; /* also read without the lock */
};

/* Thread function; `argument` is a struct board_controller. */
void *board_controller_main(void *argument);

/* Caller holds the lock. Does at most one slice of the controller thread's work, while that thread
 * sleeps or is not yet scheduled. Calls no interrupt. False: no work. */
bool board_controller_help(struct board_controller *c);

/* Caller holds the lock. Signals new work. */
static inline void board_controller_kick(struct board_controller *c)
{
	atomic_fetch_add_explicit(&c->kicks, 1, memory_order_release);
	pthread_cond_signal(&c->wake);
}

static inline struct board_job *board_job_at(struct board_controller *c, uint32_t index)
{
	return &c->jobs[index % BOARD_QUEUE_MAX];
}

#endif
