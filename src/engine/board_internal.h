/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between board_dma.c (functions for the user) and board_controller.c (the threads).
 * board_dma.lock guards everything unless stated otherwise; it is released for copies and for the
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
	uint64_t begins_ns; /* time of the first byte */
	uint64_t due_ns;    /* time of the completion; valid if `passed` */
	uint64_t moved;     /* bytes */
	/* bytes to move: not all if this DMA is to fail or stall */
	uint64_t last;
	/* board_dma.resets at the start; if it differs, the DMA is stale */
	uint32_t reset;
	uint32_t twin; /* Tx, THROUGH: position of this DMA in Rx's ring */
	bool stalls, fails;
	bool passed; /* all bytes were moved; Tx sets it in Rx's ring for a THROUGH */
	int status;
	struct board_core_task task; /* THROUGH with `first` */
};

/* Counts of DMAs: head <= next <= tail, tail - head <= queue. Those below `next` wait for their
 * interrupt; `next` is running. */
struct board_controller {
	struct board_dma *board;
	pthread_t thread;
	pthread_cond_t wake;
	_Atomic uint32_t kicks; /* also read without the lock */
	uint64_t rate;          /* MB/s; 0: unlimited; never changes */
	uint64_t clock_ns;      /* modelled time of the last copied byte */
	bool sleeping;          /* other threads may move bytes for this controller */
	/* a thread owns the running DMA and moves its bytes without the lock */
	bool moving;
	uint32_t head, next, tail;
	struct board_job jobs[BOARD_QUEUE_MAX];
};

struct board_dma {
	struct board_dma_options options; /* copy; its `config` is not valid later */
	uint64_t control_ns, latency_ns, interrupt_ns, through_rate, memory_rate, fail, stall;
	uint32_t queue;
	pthread_mutex_t lock;
	bool stop;
	uint32_t resets;
	uint64_t started;         /* the first DMA has number 1 */
	uint64_t memory_clock_ns; /* modelled time of the memory's last byte */
	struct board_controller tx, rx;
	struct engine_dma_end ends[BOARD_ENDS_MAX]; /* ring of completions */
	uint32_t end_head;
	_Atomic uint32_t end_count; /* also read without the lock */
};

/* `argument`: struct board_controller */
void *board_controller_main(void *argument);

/* Caller holds the lock. Does the work of a sleeping thread: at most one slice, and no call of the
 * user's interrupt. False: no work. */
bool board_controller_help(struct board_controller *c);

/* Caller holds the lock. */
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
