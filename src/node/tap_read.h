/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracer's side of node/tap.h: makes the ring beside a node's file of counters, has the node
 * take it, and reads it. When the tracer dies, its lock on the ring is gone, and the node leaves
 * it. */
#ifndef NODE_TAP_READ_H
#define NODE_TAP_READ_H

#include "node/stats_read.h"
#include "node/tap.h"

struct tap_reader;

/* Begins to trace a node that stats_read found. `ring_bytes` is a power of two. DXP_EBUSY: another
 * tracer, *other is its process; DXP_ENOENT: the node is gone; DXP_EACCESS: it is another user's;
 * DXP_EIO: no room for the ring. */
int tap_attach(const struct stats_view *node, uint32_t ring_bytes, uint32_t snap_bytes,
	       struct tap_reader **out, uint32_t *other);

/* The node shall write no more: it stops as soon as it looks, which is when tap_answered no longer
 * says TAP_ASKED. What it wrote can still be read. */
void tap_stop(struct tap_reader *t);

/* Stops it, and frees everything. NULL is allowed. */
void tap_detach(struct tap_reader *t);

enum tap_answer {
	TAP_ASKED,   /* it has not looked yet: it sleeps, or its program was stopped */
	TAP_TAKEN,   /* it writes */
	TAP_REFUSED, /* it writes a trace of its own (DXP_TRACE) */
	TAP_GONE,    /* it has ended */
};
enum tap_answer tap_answered(const struct tap_reader *t);

/* The next record, or NULL when there is none now. It stays until tap_release. *broken becomes true
 * when the node wrote nonsense, and stays as it was otherwise. */
const struct tap_record *tap_next(struct tap_reader *t, bool *broken);
void tap_release(struct tap_reader *t);

/* Datagrams that found no room so far. */
uint64_t tap_dropped(const struct tap_reader *t);

#endif
