/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of local DMA (dxp/dma.h): a device, the thread that has it, and transfers.
 *
 * Who does what: the device's thread alone calls engine and pump. Copies between user memory and
 * ring buffers are done by threads that wait for a transfer, since they have nothing better to do,
 * and by the device's thread where none of those is free; short ones by the device's thread at
 * once, as handing them over would take longer.
 *
 * Lock: `lock` guards everything here but `doze`; it is held while pump and engine are called and
 * not while bytes are copied. An engine's interrupt takes none of it: it only rings. The thread
 * spins before it sleeps, for as long as that has paid lately: most interrupts come sooner than a
 * sleeper would wake. */
#ifndef DMA_INTERNAL_H
#define DMA_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <dxp/dma.h>

#include "base/spin.h"
#include "base/util.h"
#include "bridge/list.h"
#include "dma/pins.h"
#include "engine/pump.h"

/* How the device's thread sleeps, and how others wake it without any other lock. */
struct doze {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool rung, asleep;
};
void doze_init(struct doze *z);
void doze_destroy(struct doze *z);
void doze_ring(struct doze *z);
/* Returns when it was rung since the last return, or at the deadline. */
void doze_until(struct doze *z, uint64_t deadline_ns);

/* Something that the device's thread does for another, which waits. */
struct dma_call {
	struct list link;
	int (*run)(struct dxp_dma *d, void *context);
	void *context;
	int status;
	bool done;
};

/* A copy to be done, or under way: step `id` of the pump. */
struct dma_copy {
	uint32_t id;
	uint8_t *to;
	const uint8_t *from;
	uint32_t bytes;
};

/* Both rings full of them is the most there can be. */
#define DMA_COPIES_MAX 128
_Static_assert(DMA_COPIES_MAX >= 2 * BRIDGE_BUFFERS_MAX, "a copy for each buffer");

struct dxp_dma {
	pthread_mutex_t lock;
	pthread_cond_t rare; /* a call is done, or somebody who waited has left */
	struct doze doze;
	struct spin spin; /* the device's thread's alone */
	pthread_t thread;
	bool started, closing;
	struct engine *engine;
	struct engine_description description;
	void *memory; /* reserved for engines that would work in ours; nobody touches it */
	uint64_t memory_bytes;
	struct pump *pump;
	struct pins pins;
	struct list calls;        /* of struct dma_call */
	struct list fresh;        /* transfers that the pump does not have yet */
	struct list transfers;    /* all that were not waited for to the end */
	uint32_t under_way;       /* of those, not ended */
	_Atomic uint32_t waiting; /* threads in dxp_dma_wait; grows without the lock */

	struct dma_copy copies[DMA_COPIES_MAX]; /* a ring: to be done */
	uint32_t copies_head, copies_count;
	uint32_t copying; /* threads that copy now */
	struct list idle; /* transfers whose waiter sleeps */
	uint32_t called;  /* waiters woken to copy that have not come yet */
};

struct dxp_dma_transfer {
	struct pump_transfer pump;
	struct dxp_dma *dma; /* NULL: the device was closed; nothing of it is needed */
	struct list link, fresh, idle;
	pthread_cond_t wake; /* of its waiter */
	bool called;         /* its waiter: to copy */
	struct dxp_dma_order order;
	bool pumped, ended;
	int status;
	struct pin *source_pin, *sink_pin;
};

/* dma_thread.c */
void *dma_thread_main(void *dma);
/* Lets the device's thread do it; returns what `run` returned. */
int dma_call(struct dxp_dma *d, int (*run)(struct dxp_dma *d, void *context), void *context);

/* dma_copy.c */
/* The pump's `step`. Caller holds the lock, as of the others. */
int dma_copy_step(struct pump_transfer *t, const struct bridge_action *a);
/* Is there a copy that no waiter was called for? */
bool dma_copy_left(const struct dxp_dma *d);
/* Does one; the lock is given back meanwhile. False: there was none. */
bool dma_copy_one(struct dxp_dma *d);
/* Ends all that nobody has begun. */
void dma_copies_drop(struct dxp_dma *d, int status);

/* dma_order.c */
/* DXP_EINVAL, DXP_ERANGE, DXP_EUNSUPPORTED with the sentence set. */
int dma_order_check(const struct dxp_dma *d, const struct dxp_dma_order *o);
/* Fills in what the pump wants to know of both ends, and says the rest. */
struct bridge_order dma_order_pumped(struct dxp_dma_transfer *t);

/* dma_transfer.c: the device's thread gives it to the pump. */
void dma_transfer_begin(struct dxp_dma_transfer *t);
/* The pump does not have it, or has it no more: whoever waits for it learns how it ended. */
void dma_transfer_end(struct dxp_dma_transfer *t, int status);
/* The device goes. Who comes to wait finds it no more; who has come is counted in `waiting`. It has
 * ended; unless somebody waits for it already, its owner may free it from now on. */
void dma_transfer_part(struct dxp_dma_transfer *t);

#endif
