/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware around a bridge, in virtual time: a network, a device's two DMA controllers, and its
 * memory. Steps pass a resource in the order of their start, like reads of one queue pair and DMAs
 * of one controller. Outstanding steps hide each other's latency and share the rate. Concurrent
 * streams share device memory.
 *
 * Time is in picoseconds: 4 KiB at 100 GB/s need 41 ns, so rounding to ns would add up over
 * thousands of steps. One seed decides everything. */
#ifndef SIM_BRIDGE_STAGES_H
#define SIM_BRIDGE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define STAGES_NS       1000ull                 /* ps */
#define STAGES_NEVER    UINT64_MAX              /* no event */
#define STAGES_RATE_MAX (1000ull * 1000000000u) /* bytes/s: 1 TB/s */
/* outstanding steps: more than any bridge starts */
#define STAGES_STEPS_MAX   512
#define STAGES_LATENCY_MAX (10ull * 1000000000u) /* ns */

enum stages_step {
	STAGES_READ,    /* read from the network */
	STAGES_WRITE,   /* write to the network */
	STAGES_IN,      /* DMA: host to device memory */
	STAGES_OUT,     /* DMA: device memory to host */
	STAGES_THROUGH, /* host, stream core, host: both controllers, no memory */
	STAGES_COPY,    /* within device memory, at its rate (S-08) */
	STAGES_KINDS
};

struct stages_rate {
	uint64_t bytes_per_s; /* at most STAGES_RATE_MAX; 0: unlimited */
	uint64_t latency_ns;  /* time from the start to the first byte; earlier steps can hide it */
	/* time from the last byte to the completion: interrupt, acknowledgement */
	uint64_t end_ns;
};

struct stages_options {
	struct stages_rate read, write;            /* network; its directions are independent */
	struct stages_rate to_device, from_device; /* DMA controllers */
	uint64_t memory_bytes_per_s;               /* rate of device memory; 0: unlimited */
	/* Rates of the controllers without their link, for STAGES_IN, STAGES_OUT, STAGES_THROUGH;
	 * 0: unlimited. A step has the lower rate of both. */
	uint64_t controller_bytes_per_s[STAGES_KINDS];
	uint64_t control_ns; /* time without bytes that a controller spends before each DMA */
	uint32_t queue;      /* steps per resource; 0: STAGES_STEPS_MAX */
	uint64_t jitter_ns;  /* maximum of a uniform addition to each latency */
	uint64_t seed;
	/* The n-th step of a kind, from 1, fails with DXP_EDEVICE (DMA) or DXP_EPEERLOST, or never
	 * completes; 0: none. */
	uint64_t fail[STAGES_KINDS], stall[STAGES_KINDS];
};

struct stages;

/* DXP_ENOMEM; DXP_EINVAL: a rate or latency is out of range. */
int bridge_stages_create(const struct stages_options *options, struct stages **out);
void bridge_stages_destroy(struct stages *s);

/* Starts a step of at least 1 byte. bridge_stages_dequeue returns `tag` when it completes.
 * DXP_EAGAIN: the resource's queue is full. */
int bridge_stages_start(struct stages *s, enum stages_step step, uint64_t bytes, uint64_t tag);

/* Returns the time of the next event; STAGES_NEVER: none. */
uint64_t bridge_stages_next_ps(const struct stages *s);
uint64_t bridge_stages_now_ps(const struct stages *s);
/* Advances the clock to `ps`, at most bridge_stages_next_ps(). */
void bridge_stages_advance(struct stages *s, uint64_t ps);

/* Returns each completed step once; false: none left. */
bool bridge_stages_dequeue(struct stages *s, uint64_t *tag, int *status);

/* Cancels all configured failures, also of outstanding steps, and future stalls. A stalled step
 * stays stalled. */
void bridge_stages_heal(struct stages *s);
/* Completes all outstanding DMAs with DXP_EDEVICE. */
void bridge_stages_device_reset(struct stages *s);
/* Completes all outstanding network steps with DXP_EPEERLOST. */
void bridge_stages_peer_lost(struct stages *s);

#endif
