/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the shipped bridge with simulated hardware of any speed (bridge_stages.h), in virtual time.
 * Steps copy real bytes, half at their start and half at their completion, so two steps in one
 * buffer give wrong bytes. */
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
	/* 0: steps only count bytes */
	uint64_t device_bytes;
};

/* The caller owns it, and sets the fields up to `device_to`. */
struct bridge_lab_transfer {
	struct bridge_order order; /* bridge_lab_begin sets `context`; `fed` stays false */
	/* of BRIDGE_DIRECT: STAGES_IN, STAGES_OUT, STAGES_THROUGH (user memory) or STAGES_COPY */
	enum stages_step direct;
	/* host memory of the path, if bytes are copied */
	const uint8_t *source;
	uint8_t *sink;
	uint64_t device_from, device_to;

	struct bridge_transfer *bridge; /* NULL before the begin and after the end */
	bool ended;
	struct bridge_end end;
	uint64_t begin_ps, end_ps;
};

struct bridge_lab;

/* DXP_EINVAL, DXP_ENOMEM. */
int bridge_lab_create(const struct bridge_lab_options *options, struct bridge_lab **out);
/* Completes outstanding transfers with an error first. */
void bridge_lab_destroy(struct bridge_lab *l);

/* Returns the statuses of bridge_begin(). */
int bridge_lab_begin(struct bridge_lab *l, struct bridge_lab_transfer *t);
void bridge_lab_cancel(struct bridge_lab *l, struct bridge_lab_transfer *t, int status);

/* Returns true when all transfers are complete, false after `limit_ns` or without another event.
 * Stalls reset the device or lose the peer, as with a real bridge. */
bool bridge_lab_run(struct bridge_lab *l, uint64_t limit_ns);

uint8_t *bridge_lab_device(struct bridge_lab *l);
struct bridge *bridge_lab_core(struct bridge_lab *l);
struct stages *bridge_lab_stages(struct bridge_lab *l);

struct bridge_lab_peaks {
	uint32_t to_device, from_device; /* most buffers in use */
	uint64_t ring_bytes;             /* both rings; a bridge holds no other data */
	uint32_t resets;                 /* after stalled DMAs */
};
struct bridge_lab_peaks bridge_lab_peaks(const struct bridge_lab *l);

#endif
