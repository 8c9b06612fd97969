/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that only DMA can access (S-01): a pump with rings registered at the NIC, and the
 * staged region for PUTs and GETs of peers. Peers use this region as any other region. The xPU's
 * own transfers use the same pump (bulk.h). Only the slot's thread calls these functions. */
#ifndef XPU_BRIDGED_H
#define XPU_BRIDGED_H

#include "nic/nic.h"
#include "engine/pump.h"

struct bridged;

struct bridged_options {
	struct engine *engine; /* has BRIDGED memory; must outlive the bridge */
	uint64_t memory_bytes;
	uint32_t buffers, buffer_bytes, reads; /* see pump_options */
	uint64_t stall_ns;                     /* see pump_options */
	/* Returns true if a node is silent and its memory is kept (`--keep-hosts`). Its PUTs and
	 * GETs may then last longer than stall_ns. */
	bool (*silent)(void *context, uint16_t node);
	void *silent_context;
};

/* Creates the pump and its rings. Statuses of pump_create and engine_pin; both are logged. */
int bridged_create(const struct bridged_options *options, struct bridged **out);
/* Cancels all transfers with DXP_ECLOSED and waits for the device. Call after the NIC is closed.
 * NULL is allowed. */
void bridged_destroy(struct bridged *b);

/* Registers the rings with function 0. The NIC must outlive every poll. DXP_ENOMEM: out of
 * memory. */
int bridged_attach(struct bridged *b, struct nic *n);
/* Registers the device memory with a NIC function. Statuses of nic_region_register_staged(). */
int bridged_key(struct bridged *b, uint32_t function, uint32_t rights, uint32_t *key);

/* Cancels PUTs and GETs of peers in this range. bridged_touches() returns true while one of them is
 * in progress. */
void bridged_reclaim(struct bridged *b, uint64_t address, uint64_t bytes);
bool bridged_touches(const struct bridged *b, uint64_t address, uint64_t bytes);

/* Calls `visit` with the node of each outstanding PUT and GET of peers. A node may occur several
 * times. */
void bridged_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
		   void *context);

/* Processes completed DMAs and starts new steps. Returns their number; 0: there was nothing to
 * do. */
uint32_t bridged_poll(struct bridged *b);
/* Gives an idle thread's time to a device that is software. True: poll again. */
bool bridged_idle(struct bridged *b);
uint64_t bridged_deadline(const struct bridged *b);

struct pump *bridged_pump(struct bridged *b);
/* Returns the list entry of `bytes` bytes of a ring, from `buffer` on, for descriptors of function
 * 0. */
struct dxp_entry bridged_local(const struct bridged *b, const uint8_t *buffer, uint32_t bytes);
/* Returns XPU_CLEAR_BYTES of zeros that DMA may read. */
const uint8_t *bridged_zeros(const struct bridged *b);

/* Converts the end of a transfer to a status for its requester. After a timeout it is DXP_EDEVICE
 * if the device made no progress, or DXP_EPEERLOST if the network made none. */
int bridged_end_status(const struct bridge_end *end);
/* Returns a text for the log about the end of a transfer. */
const char *bridged_end_text(const struct bridge_end *end);
const char *bridged_step_name(uint8_t step);

/* State of a bridge. All members are 0 if there is none. */
struct bridged_state {
	uint32_t buffers, buffer_bytes;
	uint64_t in_bytes, out_bytes;     /* bytes moved by DMA through the rings */
	uint64_t in_busy_ns, out_busy_ns; /* time with a DMA in progress in that direction */
	uint64_t failed, stalls, no_buffer;
	uint32_t reads_most;        /* largest number of reads that were outstanding at once */
	uint32_t transfers;         /* transfers in progress */
	uint32_t in_used, out_used; /* buffers in use */
};
void bridged_state(const struct bridged *b, struct bridged_state *out);

#endif
