/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams in buffers from a growing pool, and the queue of those in flight, by time, then by
 * insertion. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PACKET_CLASSES 4 /* 192, 1600, 9216 and 65600 bytes */

struct sim_packet {
	/* of free packets, or in a socket buffer */
	struct sim_packet *next;
	uint64_t time_ns; /* of arrival at the next port or host */
	/* of arrival, on the receiver's wall clock */
	uint64_t stamp_ns;
	uint32_t from, to;
	uint32_t bytes;
	/* in `data`: all, or only headers */
	uint32_t held;
	/* NET_NO_PORT: the host is next */
	uint32_t port;
	uint8_t ecn;
	uint8_t class; /* of capacity: 0: 192, 1: 1600, 2: 9216 bytes */
	uint8_t data[];
};

struct sim_pool {
	struct sim_packet *free[SIM_PACKET_CLASSES];
	void **slabs;
	uint32_t slab_count, slab_space;
	uint64_t bytes; /* of all slabs */
};

/* Returns a packet for at most 9216 bytes, all fields except `data` cleared. NULL: out of
 * memory. */
struct sim_packet *sim_packet_get(struct sim_pool *p, uint32_t held);

/* Makes the address sanitizer reject reads behind `bytes`. */
void sim_packet_trim(struct sim_packet *packet);
void sim_packet_put(struct sim_pool *p, struct sim_packet *packet);
void sim_pool_free(struct sim_pool *p);

struct sim_entry {
	uint64_t time_ns, order;
	struct sim_packet *packet;
};

struct sim_queue {
	/* 4 children per entry: half as deep as a binary heap, and children fill 1 or 2 cache
	 * lines. */
	struct sim_entry *heap;
	size_t count, space;
	uint64_t order;
};

/* Queues a packet until packet->time_ns. DXP_ENOMEM: the caller still owns it. */
int sim_queue_push(struct sim_queue *q, struct sim_packet *packet);
/* The queue must not be empty. */
struct sim_packet *sim_queue_pop(struct sim_queue *q);
/* Frees the queue's memory; packets belong to the pool. */
void sim_queue_free(struct sim_queue *q);

/* Returns UINT64_MAX if the queue is empty. */
static inline uint64_t sim_queue_next(const struct sim_queue *q)
{
	return q->count ? q->heap[0].time_ns : UINT64_MAX;
}

#endif
