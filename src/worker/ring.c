/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/ring.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

/* polls of the ring between two reads of the clock, which take longer */
#define SPINS_PER_LOOK 64

static uint32_t round_up(uint32_t bytes)
{
	return (bytes + 7) & ~7u;
}

static uint8_t *head_address(const struct worker_side *e)
{
	return e->ring->data + e->at % WORKER_RING_BYTES;
}

bool worker_put(struct worker_side *e, uint32_t kind, const struct worker_parts *p)
{
	struct worker_ring *r = e->ring;
	const struct worker_head head = {
		.bytes = (uint32_t)sizeof(head) + p->first_bytes + p->second_bytes, .kind = kind};
	const uint32_t accepts = round_up(head.bytes);
	/* Pairs with the release in worker_dequeue(): the consumer has copied the bytes before
	 * `head`. */
	uint64_t used = e->at - atomic_load_explicit(&r->head, memory_order_acquire);

	assert(head.bytes <= WORKER_MESSAGE_BYTES);
	if (used > WORKER_RING_BYTES || accepts > WORKER_RING_BYTES - used)
		return false;
	uint8_t *at = head_address(e);
	memcpy(at, &head, sizeof(head));
	if (p->first_bytes)
		memcpy(at + sizeof(head), p->first, p->first_bytes);
	if (p->second_bytes)
		memcpy(at + sizeof(head) + p->first_bytes, p->second, p->second_bytes);
	e->at += accepts;
	atomic_store_explicit(&r->tail, e->at, memory_order_release);
	return true;
}

/* Wakeup protocol, as in nic/wake.c. Producer: publish, full fence, read `sleeps`. Consumer: set
 * `sleeps`, full fence, check the ring, sleep. So either the consumer sees the message, or the
 * producer sees `sleeps`. */
bool worker_sleeps(struct worker_side *e)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&e->ring->sleeps, memory_order_relaxed) &&
	       atomic_exchange(&e->ring->sleeps, 0);
}

bool worker_ready(const struct worker_side *e)
{
	return atomic_load_explicit(&e->ring->tail, memory_order_acquire) != e->at;
}

int worker_dequeue(struct worker_side *e, void *out)
{
	struct worker_ring *r = e->ring;
	/* Pairs with the release in worker_put(): the bytes before `tail` are complete. */
	uint64_t there = atomic_load_explicit(&r->tail, memory_order_acquire) - e->at;
	struct worker_head head;

	if (there == 0)
		return 0;
	memcpy(&head, head_address(e), sizeof(head));
	if (there > WORKER_RING_BYTES || head.bytes < sizeof(head) ||
	    head.bytes > WORKER_MESSAGE_BYTES || round_up(head.bytes) > there)
		return -1;
	memcpy(out, head_address(e), head.bytes);
	/* the checked head: the producer may have changed it meanwhile */
	memcpy(out, &head, sizeof(head));
	e->at += round_up(head.bytes);
	atomic_store_explicit(&r->head, e->at, memory_order_release);
	return (int)head.bytes;
}

bool worker_sleep_announce(struct worker_side *e)
{
	atomic_store_explicit(&e->ring->sleeps, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (!worker_ready(e))
		return true;
	worker_sleep_end(e);
	return false;
}

void worker_sleep_end(struct worker_side *e)
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

static void spin(const struct worker_side *e, uint32_t spin_ns)
{
	uint64_t end_ns = clock_now_ns() + spin_ns;

	while (!worker_ready(e) && clock_now_ns() < end_ns)
		for (int i = 0; i < SPINS_PER_LOOK && !worker_ready(e); i++)
			relax();
}

/* Calls futex(). Without FUTEX_PRIVATE_FLAG, because two processes share the word. */
static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

void worker_wait(struct worker_side *e, uint32_t spin_ns)
{
	if (spin_ns)
		spin(e, spin_ns);
	while (!worker_ready(e) && worker_sleep_announce(e))
		futex(&e->ring->sleeps, FUTEX_WAIT, 1);
	worker_sleep_end(e);
}

bool worker_wake(struct worker_side *e)
{
	if (!worker_sleeps(e))
		return false;
	futex(&e->ring->sleeps, FUTEX_WAKE, INT_MAX);
	return true;
}
