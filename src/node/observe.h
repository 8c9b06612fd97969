/* SPDX-License-Identifier: BSD-3-Clause */
/* How a node lets others see what it does: it publishes its counters (node/stats.h) and has a tap
 * (node/tap.h). Neither can make a node fail. While nobody looks, a turn pays one compare and one
 * relaxed load for both. */
#ifndef NODE_OBSERVE_H
#define NODE_OBSERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/stats.h"

struct node;
struct tap;

struct observe {
	struct stats *stats;  /* NULL: nothing is published */
	struct tap *tap;      /* NULL: no memory for it */
	uint64_t due_ns;      /* next publication; UINT64_MAX: nothing happened since the last */
	uint64_t interval_ns; /* from the first change to its publication; UINT64_MAX: never */
	_Atomic uint32_t *tap_wanted; /* a tracer came or went */
	uint32_t tap_seen;
	uint64_t gone[STATS_SESSION_FIELDS]; /* counts of sessions whose peers were lost */
};

/* Always DXP_OK but for DXP_ENOMEM. */
int observe_open(struct node *n);
void observe_close(struct node *n);

void observe_publish(struct node *n, uint64_t now_ns);
void observe_tap(struct node *n);

/* Before the session goes: totals must not shrink. */
void observe_peer_lost(struct node *n, uint16_t peer);

/* Once a turn, which did `work`. */
static inline void observe_look(struct node *n, struct observe *o, uint32_t work, uint64_t now_ns)
{
	if (atomic_load_explicit(o->tap_wanted, memory_order_relaxed) != o->tap_seen)
		observe_tap(n);
	if (work && o->due_ns == UINT64_MAX && o->interval_ns != UINT64_MAX)
		o->due_ns = now_ns + o->interval_ns;
	if (now_ns >= o->due_ns)
		observe_publish(n, now_ns);
}

#endif
