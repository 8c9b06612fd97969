/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of local DMA (dxp/dma.h): a device, its thread and its transfers.
 *
 * Threads: only the device's thread calls the engine and the pump. Threads that wait for a transfer
 * copy between user memory and ring buffers; the device's thread does so if none is idle. It runs
 * short copies at once, because a handover takes longer.
 *
 * Lock: `lock` guards everything here except `doze`. Calls of pump and engine hold it; copies of
 * bytes do not. An engine's interrupt takes no lock here, it only sets a wakeup. Before it sleeps,
 * the device's thread spins for as long as spinning paid lately: most interrupts arrive sooner than
 * a sleeping thread wakes. */
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

/* Puts the device's thread to sleep and wakes it; needs no other lock. */
struct doze {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool rung, sleeping;
};
void dma_doze_init(struct doze *z);
void dma_doze_destroy(struct doze *z);
void dma_doze_ring(struct doze *z);
/* Returns after a dma_doze_ring since the last return, or at the deadline. */
void dma_doze_until(struct doze *z, uint64_t deadline_ns);

/* A function that the device's thread runs for a thread that waits. */
struct dma_call {
	struct list link;
	int (*run)(struct dxp_dma *d, void *context);
	void *context;
	int status;
	bool done;
};

/* A copy to do or in progress: step `id` of the pump. */
struct dma_copy {
	uint32_t id;
	uint8_t *to;
	const uint8_t *from;
	uint32_t bytes;
};

/* copies: one per buffer of both rings */
#define DMA_COPIES_MAX 128
_Static_assert(DMA_COPIES_MAX >= 2 * BRIDGE_BUFFERS_MAX, "a copy for each buffer");

struct dxp_dma {
	pthread_mutex_t lock;
	pthread_cond_t rare; /* a call is done, or a waiting thread has left */
	struct doze doze;
	struct spin spin; /* used by the device's thread only */
	pthread_t thread;
	bool started, closing;
	struct engine *engine;
	struct engine_description description;
	void *memory; /* reserved for engines that can use host memory; never touched here */
	uint64_t memory_bytes;
	struct pump *pump;
	struct pins pins;
	struct list calls;        /* of struct dma_call */
	struct list fresh;        /* transfers not yet given to the pump */
	struct list transfers;    /* all that no wait has finished */
	uint32_t under_way;       /* of those, not complete */
	_Atomic uint32_t waiting; /* threads in dxp_dma_wait; incremented without the lock */

	struct dma_copy copies[DMA_COPIES_MAX]; /* ring of copies to do */
	uint32_t copies_head, copies_count;
	uint32_t copying; /* threads that copy now */
	struct list idle; /* transfers with a sleeping waiter */
	uint32_t called;  /* waiters woken to copy that have not started */
};

struct dxp_dma_transfer {
	struct pump_transfer pump;
	struct dxp_dma *dma; /* NULL: the device was closed and must not be used */
	struct list link, fresh, idle;
	pthread_cond_t wake;
	bool called; /* its waiter was woken to copy */
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
/* Executes the pump's `step`. Caller holds the lock, also for the functions below. */
int dma_copy_step(struct pump_transfer *t, const struct bridge_action *a);
/* Returns true if there is a copy for which no waiter was woken. */
bool dma_copy_left(const struct dxp_dma *d);
/* Does one copy, with the lock released meanwhile. Returns false if there is none. */
bool dma_copy_one(struct dxp_dma *d);
/* Completes all copies that were not begun, with `status`. */
void dma_copies_drop(struct dxp_dma *d, int status);

/* order.c */
/* Returns DXP_OK, DXP_EINVAL, DXP_ERANGE or DXP_EUNSUPPORTED; sets the error text. */
int dma_order_check(const struct dxp_dma *d, const struct dxp_dma_order *o);
/* Fills in the pump's view of source and destination; returns the rest of the order. */
struct bridge_order dma_order_pumped(struct dxp_dma_transfer *t);

/* transfer.c
 * Gives the transfer to the pump. Device's thread only. */
void dma_transfer_begin(struct dxp_dma_transfer *t);
/* Completes a transfer that the pump does not hold (any more) and wakes its waiter. */
void dma_transfer_end(struct dxp_dma_transfer *t, int status);
/* Detaches a completed transfer from its closing device. Threads already in dxp_dma_wait are
 * counted in `waiting`; later ones do not find the device. Unless a thread waits for it already,
 * its owner may free it afterwards. */
void dma_transfer_part(struct dxp_dma_transfer *t);

#endif
