/* SPDX-License-Identifier: BSD-3-Clause */
/* A running bridge: rings in pinned memory, an engine for DMA, and an owner that fills and empties
 * the buffers: an xPU's slot (network) or local DMA (user memory). One thread polls the pump; the
 * engine's interrupt wakes it. */
#ifndef ENGINE_PUMP_H
#define ENGINE_PUMP_H

#include "bridge/bridge.h"
#include "bridge/tune.h"
#include "engine/engine.h"

struct pump;

struct pump_options {
	struct engine *engine; /* BRIDGED memory; outlives the pump */
	uint32_t buffers;      /* number of buffers of each ring; 0: BRIDGE_BUFFERS */
	/* length of a buffer; 0: as pump_measure() and pump_choose() select */
	uint32_t buffer_bytes;
	uint32_t reads;        /* outstanding FILL steps, 1 .. buffers; 0: buffers (S-06) */
	uint64_t memory_bytes; /* device memory, for the measurement */
	uint64_t stall_ns;     /* see bridge_options */
};

/* Part of the owner's struct, which sets it before pump_begin() and keeps it until `ended`. */
struct pump_transfer {
	/* first byte; used as the path requires */
	uint64_t device_from, device_to;
	/* BRIDGE_DIRECT: host memory, pinned or not. NULL: this side is device memory. Both set:
	 * through the stream core. */
	const uint8_t *source;
	uint8_t *sink;
	uint32_t owner; /* for the stream core, see engine_dma */
	/* Starts a FILL or DRAIN step; pump_done() completes it, perhaps inside this call.
	 * DXP_EAGAIN: the pump calls again later. Other errors fail the transfer. */
	int (*step)(struct pump_transfer *t, const struct bridge_action *a);
	/* Last callback of the transfer. For an overlapping copy to a higher device address,
	 * end->bytes counts from the end. */
	void (*ended)(struct pump_transfer *t, const struct bridge_end *end);
	/* A stalled FILL or DRAIN step must complete, because it holds its buffer (see
	 * bridge_stuck()). Only pump_poll() calls it; it may call pump_done() and pump_cancel().
	 * NULL: no such steps. */
	void (*stuck)(struct pump_transfer *t);
	/* True: the transfer may wait beyond the stall limit; see bridge_options.patient. NULL:
	 * false. */
	bool (*patient)(const struct pump_transfer *t);
	/* A grant from bridge_granted(); NULL for transfers that are not fed. */
	void (*granted)(struct pump_transfer *t, const struct bridge_grant *call);
	/* Set by the pump, for bridge_feed(), bridge_settled() and pump_cancel(). */
	struct bridge_transfer *bridge;
	uint64_t bytes; /* set by the pump */
};

/* Pins the rings until pump_destroy(), if the engine can. DXP_ENOMEM, DXP_EIO, DXP_EINVAL;
 * logged. */
int pump_create(const struct pump_options *options, struct pump **out);
/* Cancels all transfers with `status` and calls `ended`, which must not begin a transfer. Resets
 * the device if a DMA is outstanding, and waits for it. FILL and DRAIN steps must be complete. If
 * DMAs do not complete within PUMP_RESET_NS, the rings stay allocated; logged. NULL is allowed. */
void pump_destroy(struct pump *p, int status);

/* Copies the order, with `context` and `core` set. Statuses of bridge_begin(). */
int pump_begin(struct pump *p, struct pump_transfer *t, const struct bridge_order *order,
	       uint64_t now_ns);
void pump_cancel(struct pump *p, struct pump_transfer *t, int status);
void pump_done(struct pump *p, uint32_t id, int status, uint64_t now_ns);

/* Dequeues DMAs, then starts steps and reports ends and grants, at most PUMP_POLL_ACTIONS.
 * Resets the device if a DMA has stalled. Returns the amount of work; not 0: poll again before
 * sleeping. */
uint32_t pump_poll(struct pump *p, uint64_t now_ns);
/* An idle thread works for a device in software. True: poll again. */
bool pump_help(struct pump *p);
/* Returns when pump_poll() must be called; UINT64_MAX: never. */
uint64_t pump_deadline(const struct pump *p);

struct bridge *pump_bridge(struct pump *p);
/* Memory of each ring as one range, to register it with a NIC. */
void pump_rings(const struct pump *p, uint8_t **to_device, uint8_t **from_device, uint64_t *bytes);

/* Measures the DMA bandwidth for each size of bridge_sizes() that fits into device memory, from
 * address 0 on, whose content it restores.
 *
 *  Takes `limit_ns` (0: PUMP_MEASURE_NS), plus the time to save memory, to pin and to finish the
 *  last DMAs. Measures fewer rows of a slow device. Blocks; the engine must have no other user.
 *  Returns the number of rows; 0: no memory, a DMA failed, or the smallest size takes seconds. */
size_t pump_measure(struct engine *engine, uint64_t memory_bytes, uint64_t limit_ns,
		    struct bridge_rate *rows, size_t count);
/* The row of bridge_choose(), but with at least PUMP_BUFFER_BYTES if there is one; `count`: none
 * fits. */
size_t pump_choose(const struct bridge_rate *rows, size_t count);

#endif
