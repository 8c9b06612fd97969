/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge at work: its rings in pinned memory, an engine that does its DMA, and whoever fills and
 * drains the buffers. Used by an xPU's slot (network on the other side) and by local DMA (user
 * memory on the other side). One thread turns it; the engine's interrupt says when. */
#ifndef ENGINE_PUMP_H
#define ENGINE_PUMP_H

#include "bridge/bridge.h"
#include "bridge/tune.h"
#include "engine/engine.h"

struct pump;

struct pump_options {
	struct engine *engine; /* with BRIDGED memory; outlives the pump */
	uint32_t buffers;      /* of each ring; 0: BRIDGE_BUFFERS */
	uint32_t buffer_bytes; /* 0: measured, pump_measure() and pump_choose() */
	uint64_t memory_bytes; /* of the device, for measuring */
	uint64_t stall_ns;     /* as bridge_options */
};

/* One transfer; part of its owner's struct, filled in before pump_begin and kept until `ended`. */
struct pump_transfer {
	uint64_t device_from, device_to; /* device addresses of its first byte, as the path needs */
	/* BRIDGE_DIRECT: host memory, pinned or not; NULL: device memory on that side. Both:
	 * through the stream core. */
	const uint8_t *source;
	uint8_t *sink;
	/* Starts a step FILL or DRAIN; its end is said by pump_done(). DXP_EAGAIN: not now, it
	 * comes again; another status fails the transfer. May call pump_done() itself. */
	int (*step)(struct pump_transfer *t, const struct bridge_action *a);
	/* It is over and nothing of it is under way; the last call. end->bytes of a copy within
	 * the device to a higher address that overlaps count from its end. */
	void (*ended)(struct pump_transfer *t, const struct bridge_end *end);
	/* A step FILL or DRAIN of it has stalled, and keeps its buffer (bridge_stuck): it must
	 * end now. From pump_turn only; may call pump_done() and
	 * pump_cancel(). NULL: there are no such steps. */
	void (*stuck)(struct pump_transfer *t);
	/* As bridge_options.patient; NULL: never. */
	bool (*patient)(const struct pump_transfer *t);
	/* As bridge_called() says; NULL where it is not fed. */
	void (*called)(struct pump_transfer *t, const struct bridge_call *call);
	struct bridge_transfer
		*bridge; /* the pump's; for bridge_feed, bridge_settled, pump_cancel */
	uint64_t bytes;  /* the pump's */
};

/* Allocates and pins the rings; the memory is there until pump_destroy. Rings that the engine
 * cannot pin (DXP_EUNSUPPORTED) are used unpinned. DXP_ENOMEM, DXP_EIO, DXP_EINVAL; logged. */
int pump_create(const struct pump_options *options, struct pump **out);
/* Cancels everything with `status`, resets the device if a DMA is under way and waits for the end
 * of those; FILLs and DRAINs must have ended before. `ended` is called for all, and must begin
 * nothing. A device that does not even end its DMAs within PUMP_RESET_NS keeps the rings: that is
 * logged. NULL is allowed. */
void pump_destroy(struct pump *p, int status);

/* `order.context` and `order.core` are set here. As bridge_begin. */
int pump_begin(struct pump *p, struct pump_transfer *t, const struct bridge_order *order,
	       uint64_t now_ns);
void pump_cancel(struct pump *p, struct pump_transfer *t, int status);
void pump_done(struct pump *p, uint32_t id, int status, uint64_t now_ns);

/* Takes ended DMAs and starts what can be, PUMP_TURN actions at most; a stalled DMA resets the
 * device. Returns how much happened: more than 0: turn again before sleeping. */
uint32_t pump_turn(struct pump *p, uint64_t now_ns);
/* For its thread when it has nothing else to do: gives that time to the device, a little. True:
 * turn again. */
bool pump_help(struct pump *p);
/* When pump_turn must be called though nothing happened; UINT64_MAX: never. */
uint64_t pump_deadline(const struct pump *p);

struct bridge *pump_bridge(struct pump *p);
/* The rings as one range each, for who registers them with a NIC. */
void pump_rings(const struct pump *p, uint8_t **to_device, uint8_t **from_device, uint64_t *bytes);

/* Bandwidth of the engine's DMA for each size of bridge_sizes() that fits into device memory, which
 * is used from 0 on and left as it was found; at most `limit_ns` in all, 0: PUMP_MEASURE_NS, beside
 * what saving, pinning and the last DMAs of each take: a slow device gets fewer rows. Blocks;
 * before anybody else uses the engine. Returns how many rows; 0: memory is short, a DMA failed, or
 * the device takes seconds for the smallest. */
size_t pump_measure(struct engine *engine, uint64_t memory_bytes, uint64_t limit_ns,
		    struct bridge_rate *rows, size_t count);
/* The row to take for rings: that of bridge_choose(), but none below PUMP_BUFFER_BYTES while there
 * is a longer one. Returns `count` when there is none. */
size_t pump_choose(const struct bridge_rate *rows, size_t count);

#endif
