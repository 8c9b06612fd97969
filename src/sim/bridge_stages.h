/* SPDX-License-Identifier: BSD-3-Clause */
/* The hardware around a bridge, in virtual time: a network, the two DMA controllers of a device,
 * and the device's memory. Steps use a resource in the order of their start, like reads of one
 * queue pair and DMAs of one controller. The latency of a step passes while earlier steps transfer
 * bytes. Only one step at a time transfers bytes through a resource. Steps of several resources
 * share the rate of device memory.
 *
 * Time is in picoseconds: 4 KiB at 100 GB/s need 41 ns, so rounding to ns would add up over
 * thousands of steps. All random numbers come from one seed. */
#ifndef SIM_BRIDGE_STAGES_H
#define SIM_BRIDGE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define STAGES_NS       1000ull                 /* ps in one ns */
#define STAGES_NEVER    UINT64_MAX              /* time that means "no event" */
#define STAGES_RATE_MAX (1000ull * 1000000000u) /* bytes/s; this is 1 TB/s */
/* steps that may be outstanding: more than any bridge starts */
#define STAGES_STEPS_MAX   512
#define STAGES_LATENCY_MAX (10ull * 1000000000u) /* ns; this is 10 s */

enum stages_step {
	STAGES_READ,  /* bytes arrive from the network */
	STAGES_WRITE, /* bytes leave to the network */
	STAGES_IN,    /* a DMA from host memory to device memory */
	STAGES_OUT,   /* a DMA from device memory to host memory */
	/* from host memory through the stream core to host memory: both controllers, no device
	 * memory */
	STAGES_THROUGH,
	STAGES_COPY, /* a copy within device memory, at the memory's rate (S-08) */
	STAGES_KINDS
};

struct stages_rate {
	uint64_t bytes_per_s; /* at most STAGES_RATE_MAX; 0: unlimited */
	uint64_t latency_ns;  /* from the start to the first byte; earlier steps can hide it */
	/* from the last byte to the completion, for example for an interrupt or an
	 * acknowledgement */
	uint64_t end_ns;
};

struct stages_options {
	/* the network; both directions are independent */
	struct stages_rate read, write;
	struct stages_rate to_device, from_device; /* the two DMA controllers */
	/* rate of device memory, shared by all steps that use it; 0: unlimited */
	uint64_t memory_bytes_per_s;
	/* Rates in bytes/s of the controllers without their link, for STAGES_IN, STAGES_OUT,
	 * STAGES_THROUGH; 0: unlimited. A step has the lowest of this rate and the rates of the
	 * resources that it passes. */
	uint64_t controller_bytes_per_s[STAGES_KINDS];
	/* ns that a controller spends before each DMA, without transferring bytes */
	uint64_t control_ns;
	uint32_t queue; /* steps that may be outstanding at a resource; 0: STAGES_STEPS_MAX */
	/* ns: each latency grows by a random time, uniform up to this value */
	uint64_t jitter_ns;
	uint64_t seed;
	/* For each kind of step, the number of the step (the first has 1) that fails with
	 * DXP_EDEVICE (DMA) or DXP_EPEERLOST (network), or that never completes; 0: none. */
	uint64_t fail[STAGES_KINDS], stall[STAGES_KINDS];
};

struct stages;

/* Creates the simulated hardware. DXP_ENOMEM; DXP_EINVAL: a rate or latency is out of range. */
int bridge_stages_create(const struct stages_options *options, struct stages **out);
void bridge_stages_destroy(struct stages *s);

/* Starts a step of at least 1 byte. When the step completes, bridge_stages_dequeue returns `tag`.
 * DXP_EAGAIN: the resource has too many outstanding steps. */
int bridge_stages_start(struct stages *s, enum stages_step step, uint64_t bytes, uint64_t tag);

/* Returns the time of the next event in ps; STAGES_NEVER: there is none. */
uint64_t bridge_stages_next_ps(const struct stages *s);
uint64_t bridge_stages_now_ps(const struct stages *s);
/* Advances the clock to `ps`, which must not be later than bridge_stages_next_ps(). */
void bridge_stages_advance(struct stages *s, uint64_t ps);

/* Returns each completed step once; false: there is no more. */
bool bridge_stages_dequeue(struct stages *s, uint64_t *tag, int *status);

/* Cancels all failures that the options request, also of outstanding steps, and all later stalls. A
 * step that has stalled stays stalled. */
void bridge_stages_heal(struct stages *s);
/* Completes all outstanding DMAs with DXP_EDEVICE. */
void bridge_stages_device_reset(struct stages *s);
/* Completes all outstanding network steps with DXP_EPEERLOST. */
void bridge_stages_peer_lost(struct stages *s);

#endif
