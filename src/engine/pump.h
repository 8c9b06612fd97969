/* SPDX-License-Identifier: BSD-3-Clause */
/* A running bridge: rings in pinned memory, an engine for DMA, and an owner that fills and empties
 * the buffers. The owner is an xPU's slot (network) or local DMA (user memory). One thread polls
 * the pump. The engine's interrupt wakes that thread. */
#ifndef ENGINE_PUMP_H
#define ENGINE_PUMP_H

#include "bridge/bridge.h"
#include "bridge/tune.h"
#include "engine/engine.h"

struct pump;

struct pump_options {
	struct engine *engine; /* engine with BRIDGED memory; it must exist longer than the pump */
	uint32_t buffers;      /* buffers of each ring; 0: BRIDGE_BUFFERS */
	/* bytes of a buffer; 0: pump_measure() and pump_choose() select the size */
	uint32_t buffer_bytes;
	uint32_t reads;        /* outstanding FILL steps, 1 .. buffers; 0: buffers (S-06) */
	uint64_t memory_bytes; /* bytes of the device's memory, for the measurement */
	uint64_t stall_ns;     /* ns until a step counts as stalled, see bridge_options */
};

/* One transfer, a part of its owner's struct. The owner sets the members before pump_begin() and
 * keeps them until `ended` is called. */
struct pump_transfer {
	/* device addresses of the first byte; the path determines which are used */
	uint64_t device_from, device_to;
	/* BRIDGE_DIRECT: host memory, pinned or not. If one is NULL, that side is device memory. If
	 * both are set, the bytes pass through the stream core. */
	const uint8_t *source;
	uint8_t *sink;
	uint32_t owner; /* owner of the stream for the stream core, see engine_dma */
	/* Starts a FILL or DRAIN step. pump_done() reports the step's completion, possibly inside
	 * this call. If this function returns DXP_EAGAIN, the pump calls it again later. Other
	 * errors fail the transfer. */
	int (*step)(struct pump_transfer *t, const struct bridge_action *a);
	/* Reports that the transfer has completed. This is the last callback of the transfer. For
	 * an overlapping copy to a higher device address, end->bytes counts from the end. */
	void (*ended)(struct pump_transfer *t, const struct bridge_end *end);
	/* Requests that a stalled FILL or DRAIN step completes, because it holds its buffer (see
	 * bridge_stuck()). Only pump_poll() calls it. It may call pump_done() and pump_cancel().
	 * NULL: the owner has no such steps. */
	void (*stuck)(struct pump_transfer *t);
	/* Returns true if the transfer may wait longer than the stall limit; see
	 * bridge_options.patient. NULL: it may not. */
	bool (*patient)(const struct pump_transfer *t);
	/* Reports a grant that bridge_granted() returned; NULL for transfers that are not fed. */
	void (*granted)(struct pump_transfer *t, const struct bridge_grant *call);
	/* The pump sets it, for bridge_feed(), bridge_settled() and pump_cancel(). */
	struct bridge_transfer *bridge;
	uint64_t bytes; /* length of the transfer; the pump sets it */
};

/* Allocates and pins the rings. They stay pinned until pump_destroy(). If the engine cannot pin
 * memory (DXP_EUNSUPPORTED), the rings are used without pinning. DXP_ENOMEM, DXP_EIO, DXP_EINVAL;
 * logged. */
int pump_create(const struct pump_options *options, struct pump **out);
/* Cancels all transfers with `status`. If a DMA is outstanding, resets the device and waits for the
 * DMA. FILL and DRAIN steps must be complete. Calls `ended` for each transfer; `ended` must not
 * begin a transfer. If DMAs do not complete within PUMP_RESET_NS, the rings stay allocated; logged.
 * NULL is allowed. */
void pump_destroy(struct pump *p, int status);

/* Begins a transfer with a copy of the order, in which the pump sets `context` and `core`. Statuses
 * of bridge_begin(). */
int pump_begin(struct pump *p, struct pump_transfer *t, const struct bridge_order *order,
	       uint64_t now_ns);
void pump_cancel(struct pump *p, struct pump_transfer *t, int status);
void pump_done(struct pump *p, uint32_t id, int status, uint64_t now_ns);

/* Dequeues completed DMAs. Then starts steps and reports ended transfers and grants, at most
 * PUMP_POLL_ACTIONS of these actions. If a DMA has stalled, resets the device. Returns the amount
 * of work; if it is not 0, poll again before sleeping. */
uint32_t pump_poll(struct pump *p, uint64_t now_ns);
/* Lets an idle thread work for a device that is software. If it returns true, poll again. */
bool pump_help(struct pump *p);
/* Returns the time at which pump_poll() must be called even without an event; UINT64_MAX: never. */
uint64_t pump_deadline(const struct pump *p);

struct bridge *pump_bridge(struct pump *p);
/* Returns the memory of each ring as one range, to register it with a NIC. */
void pump_rings(const struct pump *p, uint8_t **to_device, uint8_t **from_device, uint64_t *bytes);

/* Measures the DMA bandwidth for each size of bridge_sizes() that fits into device memory. Uses
 * device memory from address 0 on, and restores its content.
 *
 * Takes `limit_ns` (0: PUMP_MEASURE_NS), and the time to save memory, to pin and to finish the last
 * DMAs. For a slow device it measures fewer rows. Blocks; the engine must have no other user.
 * Returns the number of rows; 0: no memory, a DMA failed, or the smallest size takes seconds. */
size_t pump_measure(struct engine *engine, uint64_t memory_bytes, uint64_t limit_ns,
		    struct bridge_rate *rows, size_t count);
/* Returns the index of the row with the buffer size to use: the choice of bridge_choose(), but at
 * least PUMP_BUFFER_BYTES if there is such a row. Returns `count` if no row fits. */
size_t pump_choose(const struct bridge_rate *rows, size_t count);

#endif
