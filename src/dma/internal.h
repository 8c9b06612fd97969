/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of local DMA (dxp/dma.h): a device, its thread and its transfers.
 *
 * Threads: only the device's thread calls engine and pump. Threads that wait for a transfer copy
 * between user memory and ring buffers. The device's thread makes a copy itself if no such thread
 * is idle, or if the copy is short, because waking a thread takes longer. Before the device's
 * thread sleeps, it spins for a time that adapts: most interrupts arrive sooner than a thread
 * wakes.
 *
 * Lock: `lock` guards everything here except `doze`. Calls of pump and engine hold the lock. Copies
 * of bytes do not hold it. An engine's interrupt only sets a wakeup and takes no lock here. */
#ifndef DMA_INTERNAL_H
#define DMA_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <dxp/dma.h>

#include "base/spin.h"
#include "base/util.h"
#include "bridge/limits.h"
#include "bridge/list.h"
#include "dma/pins.h"
#include "engine/pump.h"

/* Sleep and wakeup of the device's thread. Calls of its functions need no other lock. */
struct doze {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool rung, sleeping;
};
void dma_doze_init(struct doze *z);
void dma_doze_destroy(struct doze *z);
void dma_doze_ring(struct doze *z);
/* Returns when dma_doze_ring() was called since the last return of this function, or when the
 * deadline passes. */
void dma_doze_until(struct doze *z, uint64_t deadline_ns);

/* A function that the device's thread runs for a waiting thread. */
struct dma_call {
	struct list link;
	int (*run)(struct dxp_dma *d, void *context);
	void *context;
	int status;
	bool done;
};

/* A copy between user memory and a ring buffer. It belongs to step `id` of the pump. */
struct dma_copy {
	uint32_t id;
	uint8_t *to;
	const uint8_t *from;
	uint32_t bytes;
};

/* copies that can wait: one for each buffer of the two rings */
#define DMA_COPIES_MAX 128
_Static_assert(DMA_COPIES_MAX >= 2 * BRIDGE_BUFFERS_MAX, "a copy for each buffer");

struct dxp_dma {
	pthread_mutex_t lock;
	/* signals that a dma_call is complete, or that a thread has left dxp_dma_wait() */
	pthread_cond_t rare;
	struct doze doze;
	struct spin spin; /* only the device's thread uses it */
	pthread_t thread;
	bool started, closing;
	struct engine *engine;
	struct engine_description description;
	/* reserved address range for engines that use host memory; only the engine accesses it */
	void *memory;
	uint64_t memory_bytes;
	struct pump *pump;
	struct pins pins;
	struct list calls;     /* list of struct dma_call */
	struct list fresh;     /* transfers not yet given to the pump */
	struct list transfers; /* transfers for which dxp_dma_wait() has not returned a result */
	uint32_t outstanding;  /* transfers that are not complete */
	/* threads in dxp_dma_wait(); a thread increments it without `lock` */
	_Atomic uint32_t waiting;

	struct dma_copy copies[DMA_COPIES_MAX];
	uint32_t copies_head, copies_count;
	uint32_t copying;
	struct list idle; /* transfers that have a thread asleep in dxp_dma_wait() */
	uint32_t called;  /* waiting threads that were woken to copy and have not started */
};

struct dxp_dma_transfer {
	struct pump_transfer pump;
	struct dxp_dma *dma; /* NULL: the device was closed */
	struct list link, fresh, idle;
	pthread_cond_t wake;
	bool called; /* the thread that waits for this transfer was woken to make a copy */
	struct dxp_dma_order order;
	bool pumped, ended;
	int status;
	struct pin *source_pin, *sink_pin;
};

/* thread.c */
void *dma_thread_main(void *dma);
/* Runs `run` on the device's thread and returns its result. Caller does not hold the lock. */
int dma_call(struct dxp_dma *d, int (*run)(struct dxp_dma *d, void *context), void *context);

/* copy.c */
/* Executes a copy step of the pump, or queues it if it is long. The caller holds the lock, also for
 * the following functions. */
int dma_copy_step(struct pump_transfer *t, const struct bridge_action *a);
/* Returns whether a queued copy exists for which no waiting thread was woken. */
bool dma_copy_left(const struct dxp_dma *d);
/* Makes one copy, and releases the lock during it. Returns false if there is no copy to make. */
bool dma_copy_one(struct dxp_dma *d);
/* Completes all queued copies with `status` without making them. */
void dma_copies_drop(struct dxp_dma *d, int status);

/* order.c */
/* Checks an order. Returns DXP_EINVAL, DXP_ERANGE or DXP_EUNSUPPORTED and sets the error text if
 * the order is not valid. */
int dma_order_check(const struct dxp_dma *d, const struct dxp_dma_order *o);
/* Sets source and destination of the pump's transfer; returns the other fields as the pump's
 * order. */
struct bridge_order dma_order_pumped(struct dxp_dma_transfer *t);

/* transfer.c
 * Begins the transfer in the pump. Only the device's thread calls this function. */
void dma_transfer_begin(struct dxp_dma_transfer *t);
/* Completes a transfer and wakes the thread that waits for it. The pump must not hold the
 * transfer. */
void dma_transfer_end(struct dxp_dma_transfer *t, int status);
/* Detaches a completed transfer from its closing device. The owner may then free the transfer,
 * unless a thread waits for it. `waiting` counts the threads inside dxp_dma_wait(). Threads that
 * enter later do not find the device. */
void dma_transfer_part(struct dxp_dma_transfer *t);

#endif
