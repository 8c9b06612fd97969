/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishes a node's counters (node/stats.h) and its traffic (node/tap.h). If a file cannot be
 * written, the node still works. Without readers, publishing costs one compare and one relaxed load
 * per poll. */
#ifndef NODE_OBSERVE_H
#define NODE_OBSERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/stats.h"
#include "node/stats_serve.h"

struct node;
struct tap;

struct observe {
	struct stats *stats; /* NULL: the node does not publish counters */
	struct tap *tap;     /* NULL: there was no memory for the tap */
	/* time in ns of the next publication; UINT64_MAX: nothing has changed since the last one */
	uint64_t due_ns;
	/* ns from the first change to its publication; UINT64_MAX: never published */
	uint64_t interval_ns;
	_Atomic uint32_t *tap_wanted; /* a tracer changes this number when it attaches or stops */
	uint32_t tap_seen;
	uint64_t gone[STATS_SESSION_FIELDS]; /* sums over the sessions of lost peers */
	struct stats_serve serve;
};

int observe_open(struct node *n);
void observe_close(struct node *n);

void observe_publish(struct node *n, uint64_t now_ns);
void observe_tap(struct node *n);

/* Answers a STATS request from the network. */
void observe_serve(struct node *n, const struct datagram_arrival *a, uint64_t now_ns);

/* Saves a session's counts before its removal, so that totals never shrink. */
void observe_peer_lost(struct node *n, uint16_t peer);

/* Called after each poll. `work`: the amount of work that the poll did. */
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
