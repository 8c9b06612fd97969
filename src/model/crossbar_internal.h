/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the crossbar; crossbar.c and allocate.c share it. */
#ifndef MODEL_CROSSBAR_INTERNAL_H
#define MODEL_CROSSBAR_INTERNAL_H

#include "base/rng.h"
#include "model/crossbar.h"

#define MODEL_PORTS 64 /* one bit per port in a mask */
/* cycles that an event may lie ahead: a power of two, more than two transfers */
#define MODEL_WHEEL 2048

/* A waiting packet. */
struct model_packet {
	uint32_t born; /* cycle, modulo 2^32 */
	uint32_t to;
};

/* A ring of packets with free-running indices. */
struct model_fifo {
	struct model_packet *packets;
	uint32_t size; /* a power of two */
	uint32_t head, tail;
};

/* Events of one cycle: masks with a bit per port. */
struct model_instant {
	uint64_t source_done, input_free, output_free, uploaded;
};

/* Invariant: a queue holds at most depth packets, including one that the source sends and one that
 * crosses. */
struct model_crossbar {
	uint32_t ports, channels, depth, message_packets;
	uint32_t transfer; /* cycles of a packet in source, crossbar and sink */
	uint64_t arrival;  /* a message arrives if the next random number is below this */
	int64_t allocator;
	bool in_order, own_port, generating;
	struct rng rng;
	uint64_t now;
	struct model_instant wheel[MODEL_WHEEL];
	/* Sources: packets by channel, and the order of their channels. */
	struct model_fifo *backlog;           /* [input * channels + channel] */
	struct model_fifo order[MODEL_PORTS]; /* queued packets' channels, in `to` */
	struct model_packet moving[MODEL_PORTS];
	uint64_t source_idle, source_full; /* masks of inputs */
	uint32_t source_next[MODEL_PORTS]; /* next channel, for any-order */
	/* Queues. */
	struct model_fifo *queues;   /* [input * channels + channel] */
	uint32_t *used;              /* per queue: packets and reservations */
	uint64_t wants[MODEL_PORTS]; /* per output: inputs whose first packet is for it */
	uint64_t input_idle, output_idle;
	uint32_t crossing[MODEL_PORTS]; /* per input: queue of the packet that crosses */
	uint32_t output_next[MODEL_PORTS], input_next[MODEL_PORTS]; /* state of round robin */
	bool changed; /* an allocation may find something */
	uint64_t inside;
	struct model_crossbar_sums sums;
};

/* Starts the crossing of the first packet of `input` to `output`. */
void model_crossbar_cross(struct model_crossbar *x, uint32_t input, uint32_t output);

/* Matches idle inputs with idle outputs, and starts their packets. */
void model_crossbar_allocate(struct model_crossbar *x);

#endif
