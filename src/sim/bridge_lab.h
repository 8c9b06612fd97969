/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped bridge between stages of any speed, in virtual time: it says what is to be done, the
 * stages do it. With memory the bytes are carried too, half of them when a step starts and half
 * when it ends, so that a buffer used by two steps at once shows as wrong bytes. */
#ifndef SIM_BRIDGE_LAB_H
#define SIM_BRIDGE_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "sim/bridge_stages.h"

struct bridge_lab_options {
	struct stages_options stages;
	uint32_t buffers, buffer_bytes; /* these four as bridge_options */
	uint32_t fills, dmas;
	uint64_t stall_ns;
	uint64_t device_bytes; /* of the device's memory; 0: bytes are counted and not carried */
};

/* One transfer, the caller's; the first part is filled in before bridge_lab_begin. */
struct bridge_lab_transfer {
	struct bridge_order order; /* `context` is the lab's; `fed` is not for here */
	enum stages_step direct;   /* BRIDGE_DIRECT: IN, OUT, THROUGH (in place) or COPY */
	const uint8_t *source;     /* where bytes are carried: host memory, as the path needs */
	uint8_t *sink;
	uint64_t device_from, device_to; /* in the device's memory */

	struct bridge_transfer *bridge; /* NULL before and after */
	bool ended;
	struct bridge_end end;
	uint64_t begin_ps, end_ps;
};

struct bridge_lab;

/* DXP_EINVAL, DXP_ENOMEM. */
int bridge_lab_create(const struct bridge_lab_options *options, struct bridge_lab **out);
/* What is under way ends first, with an error. */
void bridge_lab_destroy(struct bridge_lab *l);

/* As bridge_begin. */
int bridge_lab_begin(struct bridge_lab *l, struct bridge_lab_transfer *t);
void bridge_lab_cancel(struct bridge_lab *l, struct bridge_lab_transfer *t, int status);

/* Runs until all transfers have ended (true), `limit_ns` have passed, or nothing is left to happen
 * though they have not. What stalls is ended as its owner would: a device is reset, a peer given
 * up. */
bool bridge_lab_run(struct bridge_lab *l, uint64_t limit_ns);

uint8_t *bridge_lab_device(struct bridge_lab *l);
struct bridge *bridge_lab_core(struct bridge_lab *l);
struct stages *bridge_lab_stages(struct bridge_lab *l);

struct bridge_lab_peaks {
	uint32_t to_device, from_device; /* buffers of each ring taken at once, at most */
	uint64_t ring_bytes;             /* memory of both rings: all that a bridge holds of data */
	uint32_t resets;                 /* of the device, for a DMA that stalled */
};
struct bridge_lab_peaks bridge_lab_peaks(const struct bridge_lab *l);

#endif
