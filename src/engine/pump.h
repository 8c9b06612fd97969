/* SPDX-License-Identifier: BSD-3-Clause */
/* A running bridge: rings in pinned memory, an engine for DMA, and an owner that fills and drains
 * the buffers. The owner is an xPU's slot (network) or local DMA (user memory). One thread polls
 * it; the engine's interrupt wakes that thread. */
#ifndef ENGINE_PUMP_H
#define ENGINE_PUMP_H

#include "bridge/bridge.h"
#include "bridge/tune.h"
#include "engine/engine.h"

struct pump;

struct pump_options {
	struct engine *engine; /* with BRIDGED memory; outlives the pump */
	uint32_t buffers;      /* of each ring; 0: BRIDGE_BUFFERS */
	uint32_t buffer_bytes; /* 0: pump_measure() and pump_choose() select it */
	uint32_t reads;        /* outstanding FILL steps, 1 .. buffers; 0: buffers (S-06) */
	uint64_t memory_bytes; /* size of the device's memory, for measuring */
	uint64_t stall_ns;     /* see bridge_options */
};

/* One transfer, part of its owner's struct. The owner sets it before pump_begin and keeps it until
 * `ended`. */
struct pump_transfer {
	uint64_t device_from, device_to; /* device address of the first byte, as the path needs */
	/* BRIDGE_DIRECT: host memory, pinned or not; NULL: that side is device memory. If both are
	 * set, the bytes pass through the stream core. */
	const uint8_t *source;
	uint8_t *sink;
	uint32_t owner; /* see engine_dma, for the stream core */
	/* Starts a FILL or DRAIN step; pump_done() reports its completion, maybe inside the call.
	 * DXP_EAGAIN: retried later; other errors fail the transfer. */
	int (*step)(struct pump_transfer *t, const struct bridge_action *a);
	/* Reports the completed transfer; the last callback. For an overlapping copy to a higher
	 * device address, end->bytes counts from the end. */
	void (*ended)(struct pump_transfer *t, const struct bridge_end *end);
	/* Requests completion of a stalled FILL or DRAIN step, which holds its buffer
	 * (bridge_stuck). Called from pump_poll only; may call pump_done() and pump_cancel(). NULL:
	 * the owner has no such steps. */
	void (*stuck)(struct pump_transfer *t);
	/* Returns true if the transfer may wait longer than the stall limit; see
	 * bridge_options.patient. NULL: never. */
	bool (*patient)(const struct pump_transfer *t);
	/* Reports a grant of bridge_granted(); NULL for transfers that are not fed. */
	void (*granted)(struct pump_transfer *t, const struct bridge_grant *call);
	/* Set by the pump; for bridge_feed, bridge_settled, pump_cancel. */
	struct bridge_transfer *bridge;
	uint64_t bytes; /* set by the pump */
};

/* Allocates and pins the rings, until pump_destroy. Rings that the engine cannot pin
 * (DXP_EUNSUPPORTED) stay unpinned. DXP_ENOMEM, DXP_EIO, DXP_EINVAL; logged. */
int pump_create(const struct pump_options *options, struct pump **out);
/* Cancels all transfers with `status`, resets the device if a DMA is outstanding, and waits for
 * it. FILLs and DRAINs must be complete. `ended` is called for each transfer and must begin none.
 * If DMAs do not complete within PUMP_RESET_NS, the rings stay allocated; logged. NULL is
 * allowed. */
void pump_destroy(struct pump *p, int status);

/* Begins a transfer. Sets `context` and `core` of a copy of the order. Statuses of
 * bridge_begin(). */
int pump_begin(struct pump *p, struct pump_transfer *t, const struct bridge_order *order,
	       uint64_t now_ns);
void pump_cancel(struct pump *p, struct pump_transfer *t, int status);
void pump_done(struct pump *p, uint32_t id, int status, uint64_t now_ns);

/* Dequeues completed DMAs and starts steps, at most PUMP_POLL_ACTIONS actions. A stalled DMA resets
 * the device. Returns the amount of work; not 0: poll again before sleeping. */
uint32_t pump_poll(struct pump *p, uint64_t now_ns);
/* Lends an idle thread's time to a device that is software. True: poll again. */
bool pump_help(struct pump *p);
/* Returns when pump_poll must be called without an event; UINT64_MAX: never. */
uint64_t pump_deadline(const struct pump *p);

struct bridge *pump_bridge(struct pump *p);
/* Returns each ring as one range, for registration with a NIC. */
void pump_rings(const struct pump *p, uint8_t **to_device, uint8_t **from_device, uint64_t *bytes);

/* Measures the DMA bandwidth for each size of bridge_sizes() that fits into device memory; uses
 * device memory from address 0 on and restores it. Takes `limit_ns`, 0: PUMP_MEASURE_NS, plus the
 * time to save, pin and finish the last DMAs; a slow device gets fewer rows. Blocks; the engine
 * must have no other user. Returns the number of rows; 0: no memory, a DMA failed, or the smallest
 * size takes seconds. */
size_t pump_measure(struct engine *engine, uint64_t memory_bytes, uint64_t limit_ns,
		    struct bridge_rate *rows, size_t count);
/* Returns the index of the row whose size the rings should have: that of bridge_choose(), but at
 * least PUMP_BUFFER_BYTES if such a row exists. `count`: none. */
size_t pump_choose(const struct bridge_rate *rows, size_t count);

#endif
