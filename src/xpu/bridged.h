/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that only DMA reaches, as the slot of one xPU has it (S-01): a pump, whose rings
 * the NIC knows as memory of its own, and the staged region through which PUTs and GETs of anybody
 * cross them. Those who ask cannot tell. The slot's own transfers use the same pump
 * (src/xpu/haul.h).
 *
 * One thread: the slot's. */
#ifndef XPU_BRIDGED_H
#define XPU_BRIDGED_H

#include "nic/nic.h"
#include "engine/pump.h"

struct bridged;

struct bridged_options {
	struct engine *engine; /* with BRIDGED memory; outlives it */
	uint64_t memory_bytes;
	uint32_t buffers, buffer_bytes; /* as pump_options */
	uint64_t stall_ns;              /* as pump_options */
	/* Returns whether a node is silent and kept: its PUTs and GETs then outlast stall_ns. */
	bool (*silent)(void *context, uint16_t node);
	void *silent_context;
};

/* Statuses of pump_create and engine_pin, logged. */
int bridged_create(const struct bridged_options *options, struct bridged **out);
/* After the NIC: ends what is under way with DXP_ECLOSED, which waits for the device. NULL is
 * allowed. */
void bridged_destroy(struct bridged *b);

/* Makes the rings known to function 0. The NIC outlives every turn. DXP_ENOMEM. */
int bridged_attach(struct bridged *b, struct nic *n);
/* A region of function 0 that is the memory: as nic_region_register_staged. */
int bridged_key(struct bridged *b, uint32_t rights, uint32_t *key);

/* PUTs and GETs of others there end soon, with an error; do any still touch it? The xPU's own
 * transfers are not looked at. */
void bridged_reclaim(struct bridged *b, uint64_t address, uint64_t bytes);
bool bridged_touches(const struct bridged *b, uint64_t address, uint64_t bytes);

/* Calls `visit` with the node of each PUT and GET of others that is under way; a node may come more
 * than once. */
void bridged_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
		   void *context);

/* Takes what the device has done and starts what can be; returns how much happened. */
uint32_t bridged_turn(struct bridged *b);
/* Nothing else is to be done: as pump_help. */
bool bridged_idle(struct bridged *b);
uint64_t bridged_deadline(const struct bridged *b);

struct pump *bridged_pump(struct bridged *b);
/* A part of a ring, for descriptors of function 0. */
struct dxp_entry bridged_local(const struct bridged *b, const uint8_t *buffer, uint32_t bytes);
/* XPU_CLEAR_BYTES of zeros that DMA may read. */
const uint8_t *bridged_zeros(const struct bridged *b);

/* How a transfer ended, for whoever asked for it: the device's silence is its failure, that of a
 * node its loss. */
int bridged_end_status(const struct bridge_end *end);
/* The same for a log. */
const char *bridged_end_text(const struct bridge_end *end);
const char *bridged_step_name(uint8_t step);

/* For registers and replies; all 0 where b is NULL. */
struct bridged_state {
	uint32_t buffers, buffer_bytes;
	uint64_t in_bytes, out_bytes;     /* that DMA has moved through the rings */
	uint64_t in_busy_ns, out_busy_ns; /* with a DMA of that direction under way */
	uint64_t failed, stalls, no_buffer;
	uint32_t transfers, in_taken, out_taken; /* now; buffers that are not EMPTY */
};
void bridged_state(const struct bridged *b, struct bridged_state *out);

#endif
