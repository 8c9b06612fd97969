/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the shipped bridge with simulated hardware of any speed (bridge_stages.h), in virtual time.
 * With device memory it copies real bytes: half when a step starts, half when it completes. So a
 * buffer that two steps use at once shows wrong bytes. */
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
	uint64_t device_bytes; /* length of device memory; 0: bytes are counted and not copied */
};

/* A transfer. The caller owns it, and sets the first part before bridge_lab_begin. */
struct bridge_lab_transfer {
	struct bridge_order order; /* the lab sets `context`; `fed` stays false */
	enum stages_step direct;   /* for BRIDGE_DIRECT: IN, OUT, THROUGH (user memory) or COPY */
	const uint8_t *source;     /* host memory that the path needs, if bytes are copied */
	uint8_t *sink;
	uint64_t device_from, device_to;

	struct bridge_transfer *bridge; /* NULL before and after */
	bool ended;
	struct bridge_end end;
	uint64_t begin_ps, end_ps;
};

struct bridge_lab;

/* DXP_EINVAL, DXP_ENOMEM. */
int bridge_lab_create(const struct bridge_lab_options *options, struct bridge_lab **out);
/* Destroys the lab. Outstanding transfers complete with an error first. */
void bridge_lab_destroy(struct bridge_lab *l);

/* Begins a transfer. Statuses of bridge_begin(). */
int bridge_lab_begin(struct bridge_lab *l, struct bridge_lab_transfer *t);
void bridge_lab_cancel(struct bridge_lab *l, struct bridge_lab_transfer *t, int status);

/* Runs until all transfers are complete (returns true), or until `limit_ns` have passed or no event
 * is left (false). Handles stalls like the owner of a bridge: resets the device, or declares the
 * peer lost. */
bool bridge_lab_run(struct bridge_lab *l, uint64_t limit_ns);

uint8_t *bridge_lab_device(struct bridge_lab *l);
struct bridge *bridge_lab_core(struct bridge_lab *l);
struct stages *bridge_lab_stages(struct bridge_lab *l);

struct bridge_lab_peaks {
	uint32_t to_device, from_device; /* maximum number of buffers in use */
	uint64_t ring_bytes;             /* memory of both rings: all data that a bridge holds */
	uint32_t resets;                 /* resets of the device after a stalled DMA */
};
struct bridge_lab_peaks bridge_lab_peaks(const struct bridge_lab *l);

#endif
