/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracer's side of node/tap.h: makes the ring beside a node's counter file, attaches the node
 * to it, and reads it. If the tracer dies, its lock on the ring is released, and the node
 * detaches. */
#ifndef NODE_TAP_READ_H
#define NODE_TAP_READ_H

#include "node/stats_read.h"
#include "node/tap.h"

struct tap_reader;

/* Starts to trace a node found by stats_read. `ring_bytes` is a power of two. DXP_EBUSY: another
 * tracer, process *other; DXP_ENOENT: the node has exited; DXP_EACCESS: it belongs to another user;
 * DXP_EIO: no space for the ring. */
int tap_attach(const struct stats_view *node, uint32_t ring_bytes, uint32_t snap_bytes,
	       struct tap_reader **out, uint32_t *other);

/* Requests the node to stop; it has stopped when tap_answered no longer returns TAP_REQUESTED.
 * Records already written can still be read. */
void tap_stop(struct tap_reader *t);

/* Stops, and frees everything. NULL is allowed. */
void tap_detach(struct tap_reader *t);

enum tap_answer {
	TAP_REQUESTED, /* not handled yet: the node sleeps, or its program is stopped */
	TAP_BUSY,      /* the node writes */
	TAP_REFUSED,   /* the node writes its own trace (DXP_TRACE) */
	TAP_GONE,      /* the node has exited */
};
enum tap_answer tap_answered(const struct tap_reader *t);

/* Returns the next record, valid until tap_release; NULL: none now. Sets *broken if the ring holds
 * invalid data. */
const struct tap_record *tap_next(struct tap_reader *t, bool *broken);
void tap_release(struct tap_reader *t);

/* Returns the number of datagrams without space so far. */
uint64_t tap_dropped(const struct tap_reader *t);

#endif
