/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of the simulated network: buffers from a pool, and the queue of those in flight,
 * ordered by time, then by insertion. The pool grows as the run needs; later datagrams need no
 * allocation. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PACKET_CLASSES 3 /* capacities: 192, 1600 and 9216 bytes */

struct sim_packet {
	struct sim_packet *next; /* next packet in the pool or in a host's socket buffer */
	uint64_t time_ns;        /* arrival at the next port or host */
	uint64_t stamp_ns;       /* receiver's wall clock when its kernel receives it */
	uint32_t from, to;
	uint32_t bytes; /* length of the datagram */
	uint32_t held;  /* bytes stored in `data`: all bytes of the datagram, or only its header */
	uint32_t port;  /* next output port; NET_NO_PORT: the host */
	uint8_t ecn;
	uint8_t class; /* index of the capacity of `data` */
	uint8_t data[];
};

struct sim_pool {
	struct sim_packet *free[SIM_PACKET_CLASSES];
	void **slabs;
	uint32_t slab_count, slab_space;
	uint64_t bytes; /* bytes of all slabs */
};

/* Returns a packet with capacity for `held` bytes, at most 9216; NULL: out of memory. Clears all
 * fields except `data`. */
struct sim_packet *sim_packet_get(struct sim_pool *p, uint32_t held);

/* Makes reads beyond the datagram's `bytes` an error of the address sanitizer. */
void sim_packet_trim(struct sim_packet *packet);
void sim_packet_put(struct sim_pool *p, struct sim_packet *packet);
void sim_pool_free(struct sim_pool *p);

struct sim_entry {
	uint64_t time_ns, order;
	struct sim_packet *packet;
};

struct sim_queue {
	/* a 4-ary heap: half as deep as a binary one, with the children of an entry in 1 or 2 cache
	 * lines */
	struct sim_entry *heap;
	size_t count, space;
	uint64_t order;
};

/* Queues a packet for packet->time_ns. DXP_ENOMEM: the caller keeps it. */
int sim_queue_push(struct sim_queue *q, struct sim_packet *packet);
struct sim_packet *sim_queue_pop(struct sim_queue *q); /* q->count > 0 */
void sim_queue_free(struct sim_queue *q);              /* the pool keeps the packets */

static inline uint64_t sim_queue_next(const struct sim_queue *q) /* UINT64_MAX if empty */
{
	return q->count ? q->heap[0].time_ns : UINT64_MAX;
}

#endif
