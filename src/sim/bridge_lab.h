/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the shipped bridge with simulated hardware of any speed (bridge_stages.h), in virtual time.
 * If there is device memory, each step copies real bytes: half of them when the step starts, half
 * when it completes. So if two steps use a buffer at once, its bytes are wrong, and a test detects
 * that. */
#ifndef SIM_BRIDGE_LAB_H
#define SIM_BRIDGE_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "sim/bridge_stages.h"

struct bridge_lab_options {
	struct stages_options stages;
	uint32_t buffers, buffer_bytes; /* see bridge_options */
	uint32_t fills, dmas;
	uint64_t stall_ns;
	/* bytes of device memory; 0: steps only count bytes and copy nothing */
	uint64_t device_bytes;
};

/* A transfer. The caller owns it, and sets the fields up to `device_to` before bridge_lab_begin. */
struct bridge_lab_transfer {
	struct bridge_order order; /* bridge_lab_begin sets its `context`; its `fed` stays false */
	/* for BRIDGE_DIRECT: STAGES_IN, STAGES_OUT, STAGES_THROUGH (user memory) or STAGES_COPY */
	enum stages_step direct;
	/* host memory that the path reads or writes, if bytes are copied */
	const uint8_t *source;
	uint8_t *sink;
	uint64_t device_from, device_to;

	struct bridge_transfer *bridge; /* NULL before the transfer begins and after it has ended */
	bool ended;
	struct bridge_end end;
	uint64_t begin_ps, end_ps;
};

struct bridge_lab;

/* Creates a bridge with its simulated hardware. DXP_EINVAL, DXP_ENOMEM. */
int bridge_lab_create(const struct bridge_lab_options *options, struct bridge_lab **out);
/* Destroys bridge and hardware. Outstanding transfers first complete with an error. */
void bridge_lab_destroy(struct bridge_lab *l);

/* Begins a transfer. Returns the statuses of bridge_begin(). */
int bridge_lab_begin(struct bridge_lab *l, struct bridge_lab_transfer *t);
void bridge_lab_cancel(struct bridge_lab *l, struct bridge_lab_transfer *t, int status);

/* Runs until all transfers are complete; returns true then. Returns false if `limit_ns` have passed
 * or no event is left. Handles stalls like the owner of a real bridge: resets the device, or
 * declares the peer lost. */
bool bridge_lab_run(struct bridge_lab *l, uint64_t limit_ns);

uint8_t *bridge_lab_device(struct bridge_lab *l);
struct bridge *bridge_lab_core(struct bridge_lab *l);
struct stages *bridge_lab_stages(struct bridge_lab *l);

struct bridge_lab_peaks {
	uint32_t to_device, from_device; /* largest number of buffers in use, of each ring */
	uint64_t ring_bytes;             /* bytes of both rings; a bridge holds no other data */
	uint32_t resets;                 /* how often the device was reset after a stalled DMA */
};
struct bridge_lab_peaks bridge_lab_peaks(const struct bridge_lab *l);

#endif
