/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware around a bridge in virtual time: network, two DMA controllers, device memory. Steps use
 * a resource in order of their start, one at a time; latency passes meanwhile. Steps of several
 * resources share the rate of device memory.
 *
 * In picoseconds, because 4 KiB at 100 GB/s need 41 ns, and rounding would add up. All random
 * numbers come from one seed. */
#ifndef SIM_BRIDGE_STAGES_H
#define SIM_BRIDGE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define STAGES_NS       1000ull
#define STAGES_NEVER    UINT64_MAX              /* no event */
#define STAGES_RATE_MAX (1000ull * 1000000000u) /* bytes/s: 1 TB/s */
/* outstanding steps, more than any bridge starts */
#define STAGES_STEPS_MAX   512
#define STAGES_LATENCY_MAX (10ull * 1000000000u) /* ns: 10 s */

enum stages_step {
	STAGES_READ,  /* from the network */
	STAGES_WRITE, /* to the network */
	STAGES_IN,    /* DMA, host to device */
	STAGES_OUT,   /* DMA, device to host */
	/* host to host through the stream core: both controllers, no device memory */
	STAGES_THROUGH,
	STAGES_COPY, /* within device memory, at its rate (S-08) */
	STAGES_KINDS
};

struct stages_rate {
	uint64_t bytes_per_s; /* at most STAGES_RATE_MAX; 0: unlimited */
	uint64_t latency_ns;  /* to the first byte; earlier steps can hide it */
	/* from the last byte to the completion, such as an interrupt or acknowledgement */
	uint64_t end_ns;
};

struct stages_options {
	/* directions are independent */
	struct stages_rate read, write;
	struct stages_rate to_device, from_device;
	/* of device memory, shared by its steps; 0: unlimited */
	uint64_t memory_bytes_per_s;
	/* Bytes/s of the controllers without their link, for STAGES_IN, STAGES_OUT, STAGES_THROUGH;
	 * 0: unlimited. The lowest rate that a step passes counts. */
	uint64_t controller_bytes_per_s[STAGES_KINDS];
	/* of a controller before each DMA, without bytes */
	uint64_t control_ns;
	uint32_t queue; /* outstanding at a resource; 0: STAGES_STEPS_MAX */
	/* ns, added to each latency at random, uniform up to this */
	uint64_t jitter_ns;
	uint64_t seed;
	/* For each kind of step, the number of the step (the first has 1) that fails with
	 * DXP_EDEVICE (DMA) or DXP_EPEERLOST (network), or that never completes; 0: none. */
	uint64_t fail[STAGES_KINDS], stall[STAGES_KINDS];
};

struct stages;

/* DXP_ENOMEM; DXP_EINVAL: a rate or latency is out of range. */
int bridge_stages_create(const struct stages_options *options, struct stages **out);
void bridge_stages_destroy(struct stages *s);

/* Starts a step of at least 1 byte; bridge_stages_dequeue returns `tag`. DXP_EAGAIN: too many are
 * outstanding at the resource. */
int bridge_stages_start(struct stages *s, enum stages_step step, uint64_t bytes, uint64_t tag);

/* Returns STAGES_NEVER without an event. */
uint64_t bridge_stages_next_ps(const struct stages *s);
uint64_t bridge_stages_now_ps(const struct stages *s);
/* `ps` must not be later than bridge_stages_next_ps(). */
void bridge_stages_advance(struct stages *s, uint64_t ps);

/* Returns each completed step once; false: no more. */
bool bridge_stages_dequeue(struct stages *s, uint64_t *tag, int *status);

/* Cancels requested failures, also of outstanding steps, and later stalls; a stalled step stays
 * stalled. */
void bridge_stages_heal(struct stages *s);
/* Completes outstanding DMAs with DXP_EDEVICE. */
void bridge_stages_device_reset(struct stages *s);
/* Completes outstanding network steps with DXP_EPEERLOST. */
void bridge_stages_peer_lost(struct stages *s);

#endif
