/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of the simulated network: buffers from a pool, and the queue of those under way,
 * ordered by time and, at one instant, by when they were put there. Nothing is allocated for a
 * datagram once the pool has grown to what a run needs. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PACKET_CLASSES 3 /* room of 192, 1600 and 9216 bytes */

struct sim_packet {
	struct sim_packet *next; /* in the pool or in a host's socket buffer */
	uint64_t time_ns;        /* when it reaches where it goes next */
	uint64_t stamp_ns;       /* the receiver's wall clock when its kernel had it */
	uint32_t from, to;       /* hosts */
	uint32_t bytes;          /* of the datagram */
	uint32_t held;           /* of these, in `data`: all, or the header alone */
	uint32_t port;           /* where it goes next: an output port, or NET_NO_PORT the host */
	uint8_t ecn;
	uint8_t class; /* of its room */
	uint8_t data[];
};

struct sim_pool {
	struct sim_packet *free[SIM_PACKET_CLASSES];
	void **slabs;
	uint32_t slab_count, slab_room;
	uint64_t bytes; /* in all slabs */
};

/* With room for `held` bytes, at most 9216; NULL when out of memory. Only what lies behind `data`
 * is not set to zero. */
struct sim_packet *sim_packet_get(struct sim_pool *p, uint32_t held);

/* Nothing behind its `bytes` will be read any more; the sanitizer watches that. */
void sim_packet_trim(struct sim_packet *packet);
void sim_packet_put(struct sim_pool *p, struct sim_packet *packet);
void sim_pool_free(struct sim_pool *p);

struct sim_entry {
	uint64_t time_ns, order;
	struct sim_packet *packet;
};

struct sim_queue {
	struct sim_entry
		*heap; /* 4-ary: half as deep as a binary one, children in a cache line or two */
	size_t count, room;
	uint64_t order;
};

/* At packet->time_ns. DXP_ENOMEM: the packet is still the caller's. */
int sim_queue_push(struct sim_queue *q, struct sim_packet *packet);
struct sim_packet *sim_queue_pop(struct sim_queue *q); /* q->count > 0 */
void sim_queue_free(struct sim_queue *q);              /* not the packets: they are the pool's */

static inline uint64_t sim_queue_next(const struct sim_queue *q) /* UINT64_MAX when empty */
{
	return q->count ? q->heap[0].time_ns : UINT64_MAX;
}

#endif
