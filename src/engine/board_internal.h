/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between board_dma.c (functions for the user) and board_controller.c (the threads).
 * board_dma.lock guards everything unless stated otherwise. It is released for copies and for the
 * user's interrupt. */
#ifndef ENGINE_BOARD_INTERNAL_H
#define ENGINE_BOARD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/board_dma.h"
#include "engine/limits.h"

struct board_job {
	struct engine_dma dma;
	uint64_t begins_ns; /* earliest time of the first byte */
	uint64_t due_ns;    /* valid once `passed` is set: earliest time of the completion */
	uint64_t moved;     /* bytes moved so far */
	/* bytes to move: fewer than all if the configuration lets this DMA fail or stall */
	uint64_t last;
	/* value of board_dma.resets at the start of the DMA; after a reset the values differ, and
	 * the DMA is stale */
	uint32_t reset;
	uint32_t twin; /* in Tx's ring, for a THROUGH: position of the same DMA in Rx's ring */
	bool stalls, fails;
	bool passed; /* all bytes were moved; in Rx's ring, Tx sets it for a THROUGH */
	int status;
	struct board_core_task task; /* valid for a THROUGH with `first` */
};

/* Invariant: head <= next <= tail and tail - head <= queue; each is a count of DMAs. DMAs below
 * `next` wait for the time of their interrupt. The DMA `next` is running. Later DMAs wait for
 * it. */
struct board_controller {
	struct board_dma *board;
	pthread_t thread;
	pthread_cond_t wake;
	_Atomic uint32_t kicks; /* number of wakeups; also read without the lock */
	uint64_t rate;          /* MB/s; 0: unlimited; never changes */
	uint64_t clock_ns;      /* modelled time at which the last copied byte was moved */
	bool sleeping; /* the controller's thread sleeps, so other threads may move bytes for it */
	/* a thread moves bytes of the running DMA without the lock, and so owns this DMA */
	bool moving;
	uint32_t head, next, tail;
	struct board_job jobs[BOARD_QUEUE_MAX];
};

struct board_dma {
	struct board_dma_options options; /* the member `config` is not valid later */
	uint64_t control_ns, latency_ns, interrupt_ns, through_rate, memory_rate, fail, stall;
	uint32_t queue;
	pthread_mutex_t lock;
	bool stop;
	uint32_t resets;
	uint64_t started;         /* number of DMAs started so far; the first DMA has number 1 */
	uint64_t memory_clock_ns; /* modelled time at which the memory has moved its last byte */
	struct board_controller tx, rx;
	struct engine_dma_end ends[BOARD_ENDS_MAX]; /* ring of completions */
	uint32_t end_head;
	_Atomic uint32_t end_count; /* completions in the ring; also read without the lock */
};

/* Main function of a controller's thread; `argument` is a struct board_controller. */
void *board_controller_main(void *argument);

/* Caller holds the lock. Does the work of the controller's thread while that thread sleeps or is
 * not yet scheduled: at most one slice. Does not call the user's interrupt. Returns false if there
 * is no work. */
bool board_controller_help(struct board_controller *c);

/* Caller holds the lock. Notifies the controller's thread of new work. */
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
