/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that only DMA can access (S-01): a pump with rings registered at the NIC, and the
 * staged region for peers. The xPU's own transfers use the same pump (bulk.h). Only for the slot's
 * thread. */
#ifndef XPU_BRIDGED_H
#define XPU_BRIDGED_H

#include "nic/nic.h"
#include "engine/pump.h"

struct bridged;

struct bridged_options {
	struct engine *engine; /* BRIDGED memory; outlives the bridge */
	uint64_t memory_bytes;
	uint32_t buffers, buffer_bytes, reads; /* see pump_options */
	uint64_t stall_ns;                     /* see pump_options */
	/* The node is silent, and its memory is kept (`--keep-hosts`): its PUTs and GETs may last
	 * longer than stall_ns. */
	bool (*silent)(void *context, uint16_t node);
	void *silent_context;
};

/* Statuses of pump_create and engine_pin, which log them. */
int bridged_create(const struct bridged_options *options, struct bridged **out);
/* Cancels all transfers with DXP_ECLOSED and waits for the device. Call after the NIC is closed.
 * NULL is allowed. */
void bridged_destroy(struct bridged *b);

/* Registers the rings with function 0. The NIC must outlive every poll. DXP_ENOMEM. */
int bridged_attach(struct bridged *b, struct nic *n);
/* Statuses of nic_region_register_staged(). */
int bridged_key(struct bridged *b, uint32_t function, uint32_t rights, uint32_t *key);

/* Cancels peers' PUTs and GETs in this range; bridged_touches() shows whether one is in
 * progress. */
void bridged_reclaim(struct bridged *b, uint64_t address, uint64_t bytes);
bool bridged_touches(const struct bridged *b, uint64_t address, uint64_t bytes);

/* Visits the node of each outstanding PUT and GET of peers, perhaps several times. */
void bridged_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
		   void *context);

/* Processes completed DMAs and starts steps; returns their number. */
uint32_t bridged_poll(struct bridged *b);
/* Lets an idle thread work for a device in software. True: poll again. */
bool bridged_idle(struct bridged *b);
uint64_t bridged_deadline(const struct bridged *b);

struct pump *bridged_pump(struct bridged *b);
/* A list entry for `buffer` in a ring, for descriptors of function 0. */
struct dxp_entry bridged_local(const struct bridged *b, const uint8_t *buffer, uint32_t bytes);
/* XPU_CLEAR_BYTES of zeros for DMA. */
const uint8_t *bridged_zeros(const struct bridged *b);

/* The status for the requester. A timeout is DXP_EDEVICE if the device made no progress, or
 * DXP_EPEERLOST if the network made none. */
int bridged_end_status(const struct bridge_end *end);
const char *bridged_end_text(const struct bridge_end *end);
const char *bridged_step_name(uint8_t step);

/* All 0 without a bridge. */
struct bridged_state {
	uint32_t buffers, buffer_bytes;
	uint64_t in_bytes, out_bytes;     /* moved by DMA through the rings */
	uint64_t in_busy_ns, out_busy_ns; /* ns with a DMA in progress */
	uint64_t failed, stalls, no_buffer;
	uint32_t reads_most;        /* outstanding at once */
	uint32_t transfers;         /* in progress */
	uint32_t in_used, out_used; /* buffers */
};
void bridged_state(const struct bridged *b, struct bridged_state *out);

#endif
