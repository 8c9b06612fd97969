/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the channel that sends next, over all sessions of an endpoint: fair in bytes by weight,
 * for any set of peers (C-37), by start-time fair queueing (Goyal, Vin and Cheng 1996). The channel
 * with the least virtual time, sent bytes divided by weight, is next.
 *
 * Sessions that can send for a channel wait in its run queue, first come, first served, and send
 * one quantum each. A session that cannot send delays no other (C-38).
 *
 * Channels of high priority go first, but competing ones of low priority get one byte in
 * RLTP_GUARD_SHARE.
 *
 * While only one channel has messages, and it has no limit, sessions send at once, without run
 * queues. docs/design/sharing.md "Sharing a NIC". */
#ifndef RLTP_ARBITER_H
#define RLTP_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "rltp/limits.h"

struct rltp_session;

struct run_queue {
	/* virtual time: sent bytes divided by weight, in units of 2^-16; wraps */
	uint64_t served;
	/* virtual time of one byte */
	uint32_t cost;
	uint32_t sessions; /* with messages of this channel */
	struct bucket *limit;
	struct rltp_session *first, *last;
};

struct arbiter {
	uint32_t busy;       /* bit c: a session has messages of channel c */
	uint32_t limited;    /* bit c: channel c has a limit */
	uint32_t lined;      /* bit c: run queue c is not empty */
	bool contended;      /* sessions send through run queues */
	uint32_t high;       /* bit c: channel c has high priority */
	uint64_t reached[2]; /* per class: virtual time of the channel selected last */
	/* Guard against starvation: bytes of high channels while others had messages, minus
	 * RLTP_GUARD_SHARE - 1 times the others' bytes; 0 .. 2 * RLTP_GUARD_BYTES. */
	uint64_t passed;
	struct run_queue run_queues[RLTP_CHANNELS];
};

/* Neighbours in the run queue of one channel. */
struct arbiter_link {
	struct rltp_session *previous, *next;
};

void arbiter_init(struct arbiter *a);
void arbiter_weight(struct arbiter *a, uint32_t channel, uint32_t weight);

void arbiter_priority(struct arbiter *a, uint32_t channel, bool high);

/* NULL removes the limit. The caller owns the bucket, and may change its rate at any time. */
void arbiter_limit(struct arbiter *a, uint32_t channel, struct bucket *limit);

/* arbiter_busy: a session queued its first message of this channel. arbiter_idle: its last one has
 * left the queue. */
void arbiter_busy(struct arbiter *a, uint32_t channel);
void arbiter_idle(struct arbiter *a, uint32_t channel);

/* Appends the session once to each run queue of `mask`. */
void arbiter_join(struct arbiter *a, struct rltp_session *s, uint32_t mask);

void arbiter_leave(struct arbiter *a, struct rltp_session *s);

/* Selects a channel and dequeues its first session. NULL: no session may send. */
struct rltp_session *arbiter_next(struct arbiter *a, uint64_t now_ns, uint32_t *channel);

/* Returns the channel of `mask` (not 0) to serve next: by class, then by least virtual time. */
uint32_t arbiter_least(const struct arbiter *a, uint32_t mask);

static inline uint32_t arbiter_blocked(const struct arbiter *a, uint64_t now_ns)
{
	uint32_t mask = 0;

	for (uint32_t limited = a->limited; limited != 0; limited &= limited - 1)
		if (now_ns < a->run_queues[__builtin_ctz(limited)].limit->next_ns)
			mask |= limited & -limited;
	return mask;
}

/* Counts for the guard against starvation; only while a channel has high priority. */
void arbiter_pass(struct arbiter *a, uint32_t channel, uint32_t bytes);

/* Charges sent bytes: headers, payload and retransmissions. */
static inline void arbiter_charge(struct arbiter *a, uint32_t channel, uint32_t bytes,
				  uint64_t now_ns)
{
	struct run_queue *l = &a->run_queues[channel];

	l->served += (uint64_t)bytes * l->cost;
	if (a->high)
		arbiter_pass(a, channel, bytes);
	if (l->limit)
		bucket_charge(l->limit, bytes, now_ns);
}

/* UINT64_MAX: no session waits. */
uint64_t arbiter_deadline(const struct arbiter *a);

#endif
