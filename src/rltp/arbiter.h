/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the channel that sends next, over all sessions of an endpoint: fair in bytes by weight,
 * for any set of peers (C-37). Start-time fair queueing (Goyal, Vin and Cheng 1996): a channel's
 * virtual time is its sent bytes over its weight, and the least is next. Sessions that can send for
 * a channel wait in its run queue, first come, first served, a quantum each. A session that cannot
 * send delays no other (C-38).
 *
 * Channels of high priority go first. While they compete with others, the others get one byte in
 * RLTP_GUARD_SHARE, so no class starves.
 *
 * While only one channel without a limit has messages, run queues stay empty and sessions send at
 * once. docs/design/sharing.md "Sharing a NIC". */
#ifndef RLTP_ARBITER_H
#define RLTP_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "rltp/limits.h"

struct rltp_session;

struct run_queue {
	uint64_t served;                   /* virtual time: sent bytes over weight, 2^-16; wraps */
	uint32_t cost;                     /* cost of a byte: 2^-16 over weight */
	uint32_t sessions;                 /* number of sessions with messages of this channel */
	struct bucket *limit;              /* NULL: none */
	struct rltp_session *first, *last; /* members of the run queue */
};

struct arbiter {
	uint32_t busy;       /* bit c: a session has messages of channel c */
	uint32_t limited;    /* bit c: channel c has a limit */
	uint32_t lined;      /* bit c: run queue c is not empty */
	bool contended;      /* run queues are in use now */
	uint32_t high;       /* bit c: channel c has high priority */
	uint64_t reached[2]; /* per priority class: virtual time of the channel selected last */
	/* Bytes that high channels sent while others had messages, less RLTP_GUARD_SHARE - 1 times
	 * the bytes of the others. */
	uint64_t passed;
	struct run_queue run_queues[RLTP_CHANNELS];
};

/* A session's links in the run queue of one channel. */
struct arbiter_link {
	struct rltp_session *previous, *next;
};

void arbiter_init(struct arbiter *a);
void arbiter_weight(struct arbiter *a, uint32_t channel, uint32_t weight);

/* Moves a channel into the class of high priority, or out of it. */
void arbiter_priority(struct arbiter *a, uint32_t channel, bool high);

/* Sets or (NULL) removes the limit of a channel. The caller owns the bucket and may change its rate
 * at any time. */
void arbiter_limit(struct arbiter *a, uint32_t channel, struct bucket *limit);

/* arbiter_busy: the session has its first message of this channel. arbiter_idle: it has completed
 * the last one. */
void arbiter_busy(struct arbiter *a, uint32_t channel);
void arbiter_idle(struct arbiter *a, uint32_t channel);

/* Appends the session to the run queues of the channels in `mask`, except run queues that contain
 * it. */
void arbiter_join(struct arbiter *a, struct rltp_session *s, uint32_t mask);

void arbiter_leave(struct arbiter *a, struct rltp_session *s);

/* Selects a channel and dequeues the first session of its run queue. Returns NULL if none may
 * send. */
struct rltp_session *arbiter_next(struct arbiter *a, uint64_t now_ns, uint32_t *channel);

/* Returns the next channel of `mask` (not 0). First selects the priority class, then the channel
 * with the least virtual time in it. */
uint32_t arbiter_least(const struct arbiter *a, uint32_t mask);

/* Returns a mask of the channels whose limit blocks them now. */
static inline uint32_t arbiter_blocked(const struct arbiter *a, uint64_t now_ns)
{
	uint32_t mask = 0;

	for (uint32_t limited = a->limited; limited != 0; limited &= limited - 1)
		if (now_ns < a->run_queues[__builtin_ctz(limited)].limit->next_ns)
			mask |= limited & -limited;
	return mask;
}

/* Counts bytes for the guard against starvation. Called while there are high channels. */
void arbiter_pass(struct arbiter *a, uint32_t channel, uint32_t bytes);

/* Charges sent bytes to the channel: headers, payload and retransmissions. */
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

/* Returns when arbiter_next will find a session; 0: now, UINT64_MAX: no session waits. */
uint64_t arbiter_deadline(const struct arbiter *a);

#endif
