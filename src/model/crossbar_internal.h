/* SPDX-License-Identifier: BSD-3-Clause */
/* State that crossbar.c and allocate.c share. A channel here is a virtual channel. */
#ifndef MODEL_CROSSBAR_INTERNAL_H
#define MODEL_CROSSBAR_INTERNAL_H

#include "base/rng.h"
#include "model/crossbar.h"

/* one bit each in a mask */
#define MODEL_PORTS 64
/* cycles that an event may lie ahead: a power of two, above two transfers */
#define MODEL_WHEEL 2048

struct model_packet {
	uint32_t born; /* cycle of generation, modulo 2^32 */
	uint32_t to;
};

/* Indices only grow, and wrap at 2^32. */
struct model_fifo {
	struct model_packet *packets;
	uint32_t size; /* a power of two */
	uint32_t head, tail;
};

/* Events of one cycle, as masks with one bit for each port. */
struct model_instant {
	uint64_t source_done, input_free, output_free, uploaded;
};

/* Invariant: a queue holds at most `depth` packets, including those that are arriving and
 * crossing. */
struct model_crossbar {
	uint32_t ports, channels, depth, message_packets;
	/* cycles in each of source, crossbar and sink */
	uint32_t transfer;
	/* a lower random number means an arrival in a cycle */
	uint64_t arrival;
	int64_t allocator;
	bool in_order, own_port, generating;
	struct rng rng;
	uint64_t now;
	struct model_instant wheel[MODEL_WHEEL];
	/* Sources: packets by channel, and the channels' order of sending. */
	struct model_fifo *backlog; /* index: input * channels + channel */
	/* by input, in order of sending; `to` holds the channel */
	struct model_fifo order[MODEL_PORTS];
	struct model_packet moving[MODEL_PORTS];
	/* masks of inputs */
	uint64_t source_idle, source_full;
	uint32_t source_next[MODEL_PORTS]; /* of sources in any order */
	struct model_fifo *queues;         /* index: input * channels + channel */
	uint32_t *used;                    /* by queue: packets, and reserved space */
	/* by output: inputs whose first packet goes there */
	uint64_t wants[MODEL_PORTS];
	uint64_t input_idle, output_idle;
	uint32_t crossing[MODEL_PORTS]; /* by input: queue of the crossing packet */
	uint32_t output_next[MODEL_PORTS], input_next[MODEL_PORTS];
	bool changed; /* an allocation may find a packet */
	uint64_t inside;
	struct model_crossbar_sums sums;
};

/* Starts to move the first packet of `input` for `output`. */
void model_crossbar_cross(struct model_crossbar *x, uint32_t input, uint32_t output);

/* Matches idle inputs and outputs, and moves their packets. */
void model_crossbar_allocate(struct model_crossbar *x);

#endif
