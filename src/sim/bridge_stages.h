/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bridge stands between, in virtual time: a network that is read and written, the two DMA
 * controllers of a device, and its memory. Steps pass a stage in the order in which they were
 * started, as reads do on one queue pair and DMAs in one controller; several under way hide each
 * other's latency and share the rate. Device memory is shared by what streams at the same time.
 *
 * Time is in picoseconds: a piece of 4 KiB takes a stage of 100 GB/s 41 ns, and thousands of
 * roundings would show. One seed decides everything. */
#ifndef SIM_BRIDGE_STAGES_H
#define SIM_BRIDGE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define STAGES_NS          1000ull                 /* in picoseconds */
#define STAGES_NEVER       UINT64_MAX              /* no time at all */
#define STAGES_RATE_MAX    (1000ull * 1000000000u) /* bytes/s: 1 TB/s */
#define STAGES_STEPS_MAX   512 /* under way at once: more than any bridge starts */
#define STAGES_LATENCY_MAX (10ull * 1000000000u) /* ns */

enum stages_step {
	STAGES_READ,    /* from the network */
	STAGES_WRITE,   /* to it */
	STAGES_IN,      /* DMA: host to device memory */
	STAGES_OUT,     /* device memory to host */
	STAGES_THROUGH, /* host, stream core, host: both controllers, not the memory */
	STAGES_COPY,    /* device memory to device memory, at the memory's rate (S-08) */
	STAGES_KINDS
};

struct stages_rate {
	uint64_t bytes_per_s; /* at most STAGES_RATE_MAX; 0: unlimited */
	uint64_t latency_ns;  /* from its start to the first byte; steps behind others hide it */
	uint64_t end_ns;      /* from the last byte until it is known: interrupt, acknowledgement */
};

struct stages_options {
	struct stages_rate read, write;            /* network; its two directions are apart */
	struct stages_rate to_device, from_device; /* controllers */
	uint64_t memory_bytes_per_s;               /* of the device; 0: unlimited */
	uint32_t queue;     /* steps that one stage takes at once, 0: STAGES_STEPS_MAX */
	uint64_t jitter_ns; /* each latency is longer by 0 .. this, drawn from the seed */
	uint64_t seed;
	/* The n-th step of a kind, counted from 1, ends with DXP_EDEVICE (DMA) or DXP_EPEERLOST, or
	 * never ends; 0: none does. */
	uint64_t fail[STAGES_KINDS], stall[STAGES_KINDS];
};

struct stages;

/* DXP_ENOMEM; DXP_EINVAL: a rate or latency out of its range. */
int stages_create(const struct stages_options *options, struct stages **out);
void stages_destroy(struct stages *s);

/* DXP_EAGAIN: its queue is full. `tag` comes back when it ends. bytes >= 1. */
int stages_start(struct stages *s, enum stages_step step, uint64_t bytes, uint64_t tag);

/* When something changes next; STAGES_NEVER: nothing will. */
uint64_t stages_next_ps(const struct stages *s);
uint64_t stages_now_ps(const struct stages *s);
/* Time goes on until `ps`, at most stages_next_ps(). */
void stages_advance(struct stages *s, uint64_t ps);

/* A step that has ended, each told once; false: none more. */
bool stages_take(struct stages *s, uint64_t *tag, int *status);

/* No step fails or stalls from now on; one that stalls already goes on doing so. */
void stages_heal(struct stages *s);
/* Every DMA under way ends now, with DXP_EDEVICE. */
void stages_device_reset(struct stages *s);
/* Every network step under way ends now, with DXP_EPEERLOST. */
void stages_peer_lost(struct stages *s);

#endif
