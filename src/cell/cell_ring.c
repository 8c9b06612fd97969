/* SPDX-License-Identifier: BSD-3-Clause */
#include "cell/cell_ring.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "link/udp.h"

#define SPINS_PER_LOOK 64 /* between two reads of the clock */

static uint32_t round_up(uint32_t bytes)
{
	return (bytes + 7) & ~7u;
}

static uint8_t *place(const struct cell_side *e)
{
	return e->ring->data + e->at % CELL_RING_BYTES;
}

bool cell_put(struct cell_side *e, uint32_t kind, const struct cell_parts *p)
{
	struct cell_ring *r = e->ring;
	const struct cell_head head = {
		.bytes = (uint32_t)sizeof(head) + p->first_bytes + p->second_bytes, .kind = kind};
	const uint32_t takes = round_up(head.bytes);
	/* Pairs with the release in cell_take: the bytes were read out. */
	uint64_t used = e->at - atomic_load_explicit(&r->head, memory_order_acquire);

	assert(head.bytes <= CELL_MESSAGE_BYTES);
	if (used > CELL_RING_BYTES || takes > CELL_RING_BYTES - used)
		return false;
	uint8_t *at = place(e);
	memcpy(at, &head, sizeof(head));
	if (p->first_bytes)
		memcpy(at + sizeof(head), p->first, p->first_bytes);
	if (p->second_bytes)
		memcpy(at + sizeof(head) + p->first_bytes, p->second, p->second_bytes);
	e->at += takes;
	atomic_store_explicit(&r->tail, e->at, memory_order_release);
	return true;
}

/* Wakeup protocol of nic/wake.c. Producer: publish, full fence, read `sleeps`. Consumer: set
 * `sleeps`, full fence, check the ring, sleep. */
bool cell_sleeps(struct cell_side *e)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&e->ring->sleeps, memory_order_relaxed) &&
	       atomic_exchange(&e->ring->sleeps, 0);
}

bool cell_ready(const struct cell_side *e)
{
	return atomic_load_explicit(&e->ring->tail, memory_order_acquire) != e->at;
}

int cell_take(struct cell_side *e, void *out)
{
	struct cell_ring *r = e->ring;
	/* Pairs with the release in cell_put: the message is complete. */
	uint64_t there = atomic_load_explicit(&r->tail, memory_order_acquire) - e->at;
	struct cell_head head;

	if (there == 0)
		return 0;
	memcpy(&head, place(e), sizeof(head));
	if (there > CELL_RING_BYTES || head.bytes < sizeof(head) ||
	    head.bytes > CELL_MESSAGE_BYTES || round_up(head.bytes) > there)
		return -1;
	memcpy(out, place(e), head.bytes);
	memcpy(out, &head, sizeof(head)); /* the head that was checked */
	e->at += round_up(head.bytes);
	atomic_store_explicit(&r->head, e->at, memory_order_release);
	return (int)head.bytes;
}

bool cell_sleep_announce(struct cell_side *e)
{
	atomic_store_explicit(&e->ring->sleeps, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (!cell_ready(e))
		return true;
	cell_sleep_end(e);
	return false;
}

void cell_sleep_end(struct cell_side *e)
{
	atomic_store_explicit(&e->ring->sleeps, 0, memory_order_relaxed);
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void spin(const struct cell_side *e, uint32_t spin_ns)
{
	uint64_t end_ns = link_now_ns() + spin_ns;

	while (!cell_ready(e) && link_now_ns() < end_ns)
		for (int i = 0; i < SPINS_PER_LOOK && !cell_ready(e); i++)
			relax();
}

/* Not FUTEX_PRIVATE: the memory is shared between processes. */
static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

void cell_wait(struct cell_side *e, uint32_t spin_ns)
{
	if (spin_ns)
		spin(e, spin_ns);
	while (!cell_ready(e) && cell_sleep_announce(e))
		futex(&e->ring->sleeps, FUTEX_WAIT, 1);
	cell_sleep_end(e);
}

bool cell_wake(struct cell_side *e)
{
	if (!cell_sleeps(e))
		return false;
	futex(&e->ring->sleeps, FUTEX_WAKE, INT_MAX);
	return true;
}
