/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of local DMA (dxp/dma.h): a device, its thread and its transfers.
 *
 *  Only the device's thread calls engine and pump. Threads that wait for a transfer copy between
 *  user memory and ring buffers. The device's thread copies itself if no such thread is idle, or if
 *  the copy is shorter than a wakeup. Before sleeping it spins for an adaptive time: most
 *  interrupts arrive sooner than a thread wakes.
 *
 *  `lock` guards everything but `doze`, also calls of pump and engine, but not copies of bytes. An
 *  engine's interrupt only sets a wakeup and takes no lock here. */
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

/* Sleep and wakeup of the device's thread, without other locks. */
struct doze {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool rung, sleeping;
};
void dma_doze_init(struct doze *z);
void dma_doze_destroy(struct doze *z);
void dma_doze_ring(struct doze *z);
/* Returns at the deadline, or for a dma_doze_ring() since its last return. */
void dma_doze_until(struct doze *z, uint64_t deadline_ns);

/* Run by the device's thread for a waiting thread. */
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

/* one per buffer of the two rings */
#define DMA_COPIES_MAX 128
_Static_assert(DMA_COPIES_MAX >= 2 * BRIDGE_BUFFERS_MAX, "a copy for each buffer");

struct dxp_dma {
	pthread_mutex_t lock;
	/* a dma_call is complete, or a thread has left dxp_dma_wait() */
	pthread_cond_t rare;
	struct doze doze;
	struct spin spin; /* for the device's thread */
	pthread_t thread;
	bool started, closing;
	struct engine *engine;
	struct engine_description description;
	/* addresses for engines that use host memory, which only they access */
	void *memory;
	uint64_t memory_bytes;
	struct pump *pump;
	struct pins pins;
	struct list calls;     /* of struct dma_call */
	struct list fresh;     /* not yet given to the pump */
	struct list transfers; /* without a result from dxp_dma_wait() */
	uint32_t outstanding;  /* incomplete transfers */
	/* threads in dxp_dma_wait(), incremented without `lock` */
	_Atomic uint32_t waiting;

	struct dma_copy copies[DMA_COPIES_MAX];
	uint32_t copies_head, copies_count;
	uint32_t copying;
	struct list idle; /* transfers with a thread asleep in dxp_dma_wait() */
	uint32_t called;  /* woken to copy, not started */
};

struct dxp_dma_transfer {
	struct pump_transfer pump;
	struct dxp_dma *dma; /* NULL: the device was closed */
	struct list link, fresh, idle;
	pthread_cond_t wake;
	bool called; /* its thread was woken to copy */
	struct dxp_dma_order order;
	bool pumped, ended;
	int status;
	struct pin *source_pin, *sink_pin;
};

/* thread.c */
void *dma_thread_main(void *dma);
/* Runs `run` on the device's thread. Caller does not hold the lock. */
int dma_call(struct dxp_dma *d, int (*run)(struct dxp_dma *d, void *context), void *context);

/* copy.c */
/* Queues a long copy. Caller holds the lock, also below. */
int dma_copy_step(struct pump_transfer *t, const struct bridge_action *a);
/* A queued copy has no woken thread. */
bool dma_copy_left(const struct dxp_dma *d);
/* Releases the lock during the copy. False: none. */
bool dma_copy_one(struct dxp_dma *d);
/* Makes no copies. */
void dma_copies_drop(struct dxp_dma *d, int status);

/* order.c */
/* DXP_EINVAL, DXP_ERANGE, DXP_EUNSUPPORTED: with the error text. */
int dma_order_check(const struct dxp_dma *d, const struct dxp_dma_order *o);
/* Sets source and destination of the pump's transfer; returns the rest. */
struct bridge_order dma_order_pumped(struct dxp_dma_transfer *t);

/* transfer.c. For the device's thread. */
void dma_transfer_begin(struct dxp_dma_transfer *t);
/* Wakes the waiting thread. The pump must not hold the transfer. */
void dma_transfer_end(struct dxp_dma_transfer *t, int status);
/* Detaches a completed transfer from its closing device. The owner may then free it, unless a
 * thread waits for it. Threads that enter dxp_dma_wait() later do not find the device. */
void dma_transfer_part(struct dxp_dma_transfer *t);

#endif
