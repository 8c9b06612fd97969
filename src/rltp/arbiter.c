/* SPDX-License-Identifier: BSD-3-Clause */
/* A bit mask marks run queues that are not empty, so a selection compares at most eight channels.
 */
#include "rltp/arbiter.h"

#include <assert.h>

#include "base/util.h"
#include "rltp/internal.h"

/* virtual time of one byte at weight 1; accurate to 1/1000 at weight 64 */
#define COST_ONE 65536u

static int64_t ahead(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

void arbiter_init(struct arbiter *a)
{
	*a = (struct arbiter){0};
	for (uint32_t c = 0; c < RLTP_CHANNELS; c++)
		a->run_queues[c].cost = COST_ONE;
}

void arbiter_weight(struct arbiter *a, uint32_t channel, uint32_t weight)
{
	assert(channel < RLTP_CHANNELS && weight >= 1 && weight <= RLTP_WEIGHT_MAX);
	a->run_queues[channel].cost = COST_ONE / weight;
}

static uint64_t *reached(struct arbiter *a, uint32_t channel)
{
	return &a->reached[a->high >> channel & 1];
}

void arbiter_priority(struct arbiter *a, uint32_t channel, bool high)
{
	assert(channel < RLTP_CHANNELS);
	a->high = (a->high & ~(1u << channel)) | (uint32_t)high << channel;
	/* Each class has its own virtual time. */
	a->run_queues[channel].served = *reached(a, channel);
	a->passed = 0;
}

void arbiter_pass(struct arbiter *a, uint32_t channel, uint32_t bytes)
{
	const uint64_t due = (uint64_t)bytes * (RLTP_GUARD_SHARE - 1);

	if (!(a->high >> channel & 1))
		a->passed -= min_u64(a->passed, due);
	else if (a->busy & ~a->high)
		a->passed = min_u64(a->passed + bytes, 2 * RLTP_GUARD_BYTES);
}

static void contended_find(struct arbiter *a)
{
	a->contended = (a->busy & (a->busy - 1)) != 0 || (a->busy & a->limited) != 0;
}

void arbiter_limit(struct arbiter *a, uint32_t channel, struct bucket *limit)
{
	assert(channel < RLTP_CHANNELS);
	a->run_queues[channel].limit = limit;
	a->limited = (a->limited & ~(1u << channel)) | (uint32_t)(limit != NULL) << channel;
	contended_find(a);
}

void arbiter_busy(struct arbiter *a, uint32_t channel)
{
	if (a->run_queues[channel].sessions++ > 0)
		return;
	/* Bytes that one channel sent alone do not count; otherwise the others would later catch
	 * up. */
	if (a->busy != 0 && !a->contended)
		*reached(a, (uint32_t)__builtin_ctz(a->busy)) =
			a->run_queues[__builtin_ctz(a->busy)].served;
	a->busy |= 1u << channel;
	contended_find(a);
}

void arbiter_idle(struct arbiter *a, uint32_t channel)
{
	assert(a->run_queues[channel].sessions > 0);
	if (--a->run_queues[channel].sessions > 0)
		return;
	a->busy &= ~(1u << channel);
	contended_find(a);
}

static void run_queue_append(struct arbiter *a, uint32_t channel, struct rltp_session *s)
{
	struct run_queue *l = &a->run_queues[channel];

	s->io->lined |= 1u << channel;
	s->io->links[channel] = (struct arbiter_link){.previous = l->last};
	if (l->last)
		l->last->io->links[channel].next = s;
	else
		l->first = s;
	l->last = s;
	if (a->lined >> channel & 1)
		return;
	a->lined |= 1u << channel;
	/* A channel that has messages again pays for bytes sent ahead, up to a bound. */
	uint64_t level = *reached(a, channel);
	if (ahead(l->served, level) > (int64_t)RLTP_LEAD_BYTES * COST_ONE)
		l->served = level + (uint64_t)RLTP_LEAD_BYTES * COST_ONE;
}

static void run_queue_remove(struct arbiter *a, uint32_t channel, struct rltp_session *s)
{
	struct run_queue *l = &a->run_queues[channel];
	struct arbiter_link *link = &s->io->links[channel];

	s->io->lined &= ~(1u << channel);
	*(link->previous ? &link->previous->io->links[channel].next : &l->first) = link->next;
	*(link->next ? &link->next->io->links[channel].previous : &l->last) = link->previous;
	if (!l->first)
		a->lined &= ~(1u << channel);
}

void arbiter_join(struct arbiter *a, struct rltp_session *s, uint32_t mask)
{
	for (; mask != 0; mask &= mask - 1)
		if ((s->io->lined & mask & -mask) == 0)
			run_queue_append(a, (uint32_t)__builtin_ctz(mask), s);
}

void arbiter_leave(struct arbiter *a, struct rltp_session *s)
{
	while (s->io->lined != 0)
		run_queue_remove(a, (uint32_t)__builtin_ctz(s->io->lined), s);
}

uint32_t arbiter_least(const struct arbiter *a, uint32_t mask)
{
	uint32_t high = mask & a->high, others = mask & ~a->high;

	if (high && others)
		mask = a->passed < RLTP_GUARD_BYTES ? high : others;
	uint32_t least = (uint32_t)__builtin_ctz(mask);
	for (mask &= mask - 1; mask != 0; mask &= mask - 1) {
		uint32_t c = (uint32_t)__builtin_ctz(mask);
		if (ahead(a->run_queues[least].served, a->run_queues[c].served) > 0)
			least = c;
	}
	return least;
}

struct rltp_session *arbiter_next(struct arbiter *a, uint64_t now_ns, uint32_t *channel)
{
	uint32_t mask = a->lined;

	for (uint32_t limited = mask & a->limited; limited != 0; limited &= limited - 1)
		if (!bucket_allows(a->run_queues[__builtin_ctz(limited)].limit, now_ns))
			mask &= ~(limited & -limited);
	if (mask == 0)
		return NULL;
	uint32_t c = arbiter_least(a, mask);
	struct run_queue *l = &a->run_queues[c];
	/* A channel that was blocked or idle may catch up one quantum. */
	uint64_t *level = reached(a, c);
	int64_t behind = ahead(*level, l->served);
	if (behind > (int64_t)RLTP_LAG_BYTES * COST_ONE)
		l->served = *level - (uint64_t)RLTP_LAG_BYTES * COST_ONE;
	if (behind < 0)
		*level = l->served;
	struct rltp_session *s = l->first;
	run_queue_remove(a, c, s);
	*channel = c;
	return s;
}

uint64_t arbiter_deadline(const struct arbiter *a)
{
	uint64_t deadline = UINT64_MAX;

	if ((a->lined & ~a->limited) != 0)
		return 0;
	for (uint32_t mask = a->lined; mask != 0; mask &= mask - 1)
		deadline = min_u64(deadline, a->run_queues[__builtin_ctz(mask)].limit->next_ns);
	return deadline;
}
