/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the crossbar, which crossbar.c and allocate.c share. Here, a channel is a virtual
 * channel. */
#ifndef MODEL_CROSSBAR_INTERNAL_H
#define MODEL_CROSSBAR_INTERNAL_H

#include "base/rng.h"
#include "model/crossbar.h"

/* ports at most, because a mask has one bit for each port */
#define MODEL_PORTS 64
/* cycles that an event may lie in the future: a power of two, and more than two transfers */
#define MODEL_WHEEL 2048

/* A packet that waits. */
struct model_packet {
	uint32_t born; /* cycle in which it was generated, modulo 2^32 */
	uint32_t to;
};

/* A ring of packets. Its indices only grow, and wrap at 2^32. */
struct model_fifo {
	struct model_packet *packets;
	uint32_t size; /* a power of two */
	uint32_t head, tail;
};

/* Events of one cycle, as masks with one bit for each port. */
struct model_instant {
	uint64_t source_done, input_free, output_free, uploaded;
};

/* Invariant: a queue holds at most `depth` packets, including a packet that the source is sending
 * and one that is crossing. */
struct model_crossbar {
	uint32_t ports, channels, depth, message_packets;
	/* cycles for which a packet occupies each of source, crossbar and sink */
	uint32_t transfer;
	/* a message arrives in a cycle if the next random number is below this threshold */
	uint64_t arrival;
	int64_t allocator;
	bool in_order, own_port, generating;
	struct rng rng;
	uint64_t now;
	struct model_instant wheel[MODEL_WHEEL];
	/* Sources: their packets by channel, and the order in which their channels send. */
	struct model_fifo *backlog; /* index: input * channels + channel */
	/* for each input, the queued packets in the order of sending; their field `to` holds the
	 * channel */
	struct model_fifo order[MODEL_PORTS];
	struct model_packet moving[MODEL_PORTS];
	/* masks of inputs: the source is idle; the source is full */
	uint64_t source_idle, source_full;
	uint32_t source_next[MODEL_PORTS]; /* channel to try next, for sources in any order */
	/* Queues behind the sources. */
	struct model_fifo *queues; /* index: input * channels + channel */
	uint32_t *used;            /* for each queue: its packets, and space reserved for more */
	/* for each output: inputs whose first packet goes to this output */
	uint64_t wants[MODEL_PORTS];
	uint64_t input_idle, output_idle;
	uint32_t crossing[MODEL_PORTS]; /* for each input: queue of the packet that is crossing */
	/* positions of the round robin */
	uint32_t output_next[MODEL_PORTS], input_next[MODEL_PORTS];
	bool changed; /* true: something has changed, so an allocation may find a packet */
	uint64_t inside;
	struct model_crossbar_sums sums;
};

/* Starts to move the first packet of `input` that goes to `output`. */
void model_crossbar_cross(struct model_crossbar *x, uint32_t input, uint32_t output);

/* Matches idle inputs with idle outputs, and starts to move their packets. */
void model_crossbar_allocate(struct model_crossbar *x);

#endif
