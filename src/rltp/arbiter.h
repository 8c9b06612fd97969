/* SPDX-License-Identifier: BSD-3-Clause */
/* Which channel may send next, over all sessions of an endpoint: fair in bytes by weight, whomever
 * they send to (C-37). Start-time fair queueing (Goyal, Vin and Cheng 1996): what a channel sent,
 * over its weight, is its virtual time, and the least one is next. Sessions that could send for a
 * channel now wait in its lane, first come, first served, a turn each; who cannot send is in no
 * lane and holds back nobody (C-38).
 *
 * While only one channel has anything to send, and that has no limit, nothing is in a lane:
 * sessions send at once. docs/design.md "Sharing a NIC". */
#ifndef RLTP_ARBITER_H
#define RLTP_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "base/limits.h"
#include "rltp/limits.h"

struct rltp_session;

struct lane {
	uint64_t served;      /* virtual time: bytes that left, 2^-16, over weight; wraps */
	uint32_t cost;        /* of a byte */
	uint32_t sessions;    /* that have messages of this channel */
	struct bucket *limit; /* NULL: none */
	struct rltp_session *first, *last; /* those whose turn comes */
};

struct arbiter {
	uint32_t busy;    /* bit c: channel c has messages somewhere */
	uint32_t limited; /* bit c: channel c has a limit */
	uint32_t lined;   /* bit c: sessions wait in lane c */
	bool contended;   /* turns are by lane now */
	uint64_t reached; /* virtual time of the channel chosen last */
	struct lane lanes[RLTP_CHANNELS];
};

/* A session's place in the lane of one channel. */
struct lane_place {
	struct rltp_session *previous, *next;
};

void arbiter_init(struct arbiter *a);
void arbiter_weight(struct arbiter *a, uint32_t channel, uint32_t weight);

/* NULL: none. The bucket stays the caller's, who may change its rate at any time. */
void arbiter_limit(struct arbiter *a, uint32_t channel, struct bucket *limit);

/* A session has messages of this channel now, or has none any more. */
void arbiter_busy(struct arbiter *a, uint32_t channel);
void arbiter_idle(struct arbiter *a, uint32_t channel);

/* The session may send for the channels of `mask` now. */
void arbiter_join(struct arbiter *a, struct rltp_session *s, uint32_t mask);

/* It is in no lane any more. */
void arbiter_leave(struct arbiter *a, struct rltp_session *s);

/* Takes the session whose turn it is out of the lane whose turn it is; NULL: nobody may send. */
struct rltp_session *arbiter_next(struct arbiter *a, uint64_t now_ns, uint32_t *channel);

/* The channel that a session takes of those in `mask`, not 0, when nobody else decides. */
uint32_t arbiter_least(const struct arbiter *a, uint32_t mask);

/* Bit c: the limit of channel c lets nothing leave now. */
static inline uint32_t arbiter_blocked(const struct arbiter *a, uint64_t now_ns)
{
	uint32_t mask = 0;

	for (uint32_t limited = a->limited; limited != 0; limited &= limited - 1)
		if (now_ns < a->lanes[__builtin_ctz(limited)].limit->next_ns)
			mask |= limited & -limited;
	return mask;
}

/* So much of it did: payload and header, for the first time or again. */
static inline void arbiter_charge(struct arbiter *a, uint32_t channel, uint32_t bytes,
				  uint64_t now_ns)
{
	struct lane *l = &a->lanes[channel];

	l->served += (uint64_t)bytes * l->cost;
	if (l->limit)
		bucket_charge(l->limit, bytes, now_ns);
}

/* When arbiter_next will name somebody; 0: now, UINT64_MAX: nobody waits. */
uint64_t arbiter_deadline(const struct arbiter *a);

#endif
