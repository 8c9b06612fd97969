/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of packets, and the heap of packets in flight. */
#include "sim/packet.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"

/* Bytes behind a datagram become unreadable: the pool is one allocation, so the address sanitizer
 * cannot do it. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(POISON)
#include <sanitizer/asan_interface.h>
#define packet_fence(p, bytes, space)                   \
	(ASAN_UNPOISON_MEMORY_REGION((p)->data, bytes), \
	 ASAN_POISON_MEMORY_REGION((p)->data + (bytes), (space) - (bytes)))
#else
#define packet_fence(p, bytes, space) ((void)0)
#endif

#define SLAB_BYTES 65536 /* at least */
#define ARITY      4

static const uint32_t class_space[SIM_PACKET_CLASSES] = {192, 1600, 9216, 65600};

static bool slab_add(struct sim_pool *p, uint8_t class)
{
	size_t each = sizeof(struct sim_packet) + class_space[class];
	size_t slab_bytes = max_u64(SLAB_BYTES, each);

	if (p->slab_count == p->slab_space) {
		uint32_t space = p->slab_space ? 2 * p->slab_space : 16;
		void **slabs = realloc(p->slabs, space * sizeof(*slabs));
		if (!slabs)
			return false;
		p->slabs = slabs;
		p->slab_space = space;
	}
	uint8_t *slab = malloc(slab_bytes);
	if (!slab)
		return false;
	p->slabs[p->slab_count++] = slab;
	p->bytes += slab_bytes;
	for (size_t at = 0; at + each <= slab_bytes; at += each) {
		struct sim_packet *packet = (struct sim_packet *)(void *)(slab + at);
		packet->class = class;
		packet->next = p->free[class];
		p->free[class] = packet;
	}
	return true;
}

struct sim_packet *sim_packet_get(struct sim_pool *p, uint32_t held)
{
	uint8_t class = 0;

	while (class_space[class] < held)
		class ++;
	assert(class < SIM_PACKET_CLASSES);
	if (!p->free[class] && !slab_add(p, class))
		return NULL;
	struct sim_packet *packet = p->free[class];
	p->free[class] = packet->next;
	packet_fence(packet, class_space[class], class_space[class]);
	*packet = (struct sim_packet){.class = class, .held = held};
	return packet;
}

void sim_packet_trim(struct sim_packet *packet)
{
	packet_fence(packet, packet->bytes, class_space[packet->class]);
}

void sim_packet_put(struct sim_pool *p, struct sim_packet *packet)
{
	packet_fence(packet, 0, class_space[packet->class]);
	packet->next = p->free[packet->class];
	p->free[packet->class] = packet;
}

void sim_pool_free(struct sim_pool *p)
{
	for (uint32_t i = 0; i < p->slab_count; i++)
		free(p->slabs[i]);
	free(p->slabs);
}

static bool before(const struct sim_entry *a, const struct sim_entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

int sim_queue_push(struct sim_queue *q, struct sim_packet *packet)
{
	if (q->count == q->space) {
		size_t space = q->space ? 2 * q->space : 256;
		struct sim_entry *heap = realloc(q->heap, space * sizeof(*heap));
		if (!heap)
			return DXP_ENOMEM;
		q->heap = heap;
		q->space = space;
	}
	struct sim_entry e = {packet->time_ns, q->order++, packet};
	size_t i = q->count++;
	for (; i > 0 && before(&e, &q->heap[(i - 1) / ARITY]); i = (i - 1) / ARITY)
		q->heap[i] = q->heap[(i - 1) / ARITY];
	q->heap[i] = e;
	return DXP_OK;
}

static size_t least_child(const struct sim_queue *q, size_t i)
{
	size_t first = ARITY * i + 1, least = first;

	for (size_t child = first + 1; child < first + ARITY && child < q->count; child++)
		if (before(&q->heap[child], &q->heap[least]))
			least = child;
	return least;
}

struct sim_packet *sim_queue_pop(struct sim_queue *q)
{
	struct sim_packet *top = q->heap[0].packet;
	struct sim_entry last = q->heap[--q->count];
	size_t i = 0;

	while (ARITY * i + 1 < q->count) {
		size_t child = least_child(q, i);
		if (!before(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	if (q->count > 0)
		/* soon needed, and probably not cached */
		__builtin_prefetch(q->heap[0].packet);
	return top;
}

void sim_queue_free(struct sim_queue *q)
{
	free(q->heap);
}
