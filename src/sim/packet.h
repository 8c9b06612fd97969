/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of the simulated network: their buffers, which come from a pool, and the queue of
 * datagrams in flight, ordered by time, then by insertion. The pool grows when needed; datagrams
 * that reuse buffers need no allocation. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PACKET_CLASSES 3 /* capacities: 192, 1600 and 9216 bytes */

struct sim_packet {
	/* next packet in the list of free packets, or in a host's socket buffer */
	struct sim_packet *next;
	uint64_t time_ns; /* time in ns of the arrival at the next port or host */
	/* time on the receiver's wall clock at which its kernel receives it */
	uint64_t stamp_ns;
	uint32_t from, to;
	uint32_t bytes; /* bytes of the datagram */
	/* bytes stored in `data`: all bytes of the datagram, or only its headers */
	uint32_t held;
	/* next output port; NET_NO_PORT: the host is next */
	uint32_t port;
	uint8_t ecn;
	uint8_t class; /* index of the capacity of `data`: 0: 192, 1: 1600, 2: 9216 bytes */
	uint8_t data[];
};

struct sim_pool {
	struct sim_packet *free[SIM_PACKET_CLASSES];
	void **slabs;
	uint32_t slab_count, slab_space;
	uint64_t bytes; /* bytes of all slabs, from which packets are allocated */
};

/* Returns a packet with capacity for `held` bytes, at most 9216; NULL: out of memory. Clears all
 * fields except `data`. */
struct sim_packet *sim_packet_get(struct sim_pool *p, uint32_t held);

/* Makes a read behind the datagram's `bytes` an error of the address sanitizer. */
void sim_packet_trim(struct sim_packet *packet);
void sim_packet_put(struct sim_pool *p, struct sim_packet *packet);
void sim_pool_free(struct sim_pool *p);

struct sim_entry {
	uint64_t time_ns, order;
	struct sim_packet *packet;
};

struct sim_queue {
	/* A heap with 4 children per entry: it is half as deep as a binary heap, and the children
	 * of an entry fill only 1 or 2 cache lines. */
	struct sim_entry *heap;
	size_t count, space;
	uint64_t order;
};

/* Queues a packet until packet->time_ns. DXP_ENOMEM: the packet is not queued, and the caller still
 * owns it. */
int sim_queue_push(struct sim_queue *q, struct sim_packet *packet);
/* Removes the first packet; the queue must not be empty. */
struct sim_packet *sim_queue_pop(struct sim_queue *q);
/* Frees the queue's memory; the packets belong to the pool. */
void sim_queue_free(struct sim_queue *q);

/* Returns the time of the first packet; UINT64_MAX: the queue is empty. */
static inline uint64_t sim_queue_next(const struct sim_queue *q)
{
	return q->count ? q->heap[0].time_ns : UINT64_MAX;
}

#endif
