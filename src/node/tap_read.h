/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracer's side of tap.h. It makes the ring beside a node's counter file, attaches the node to
 * the ring, and reads records. If the tracer dies, the ring's lock is released, and the node
 * detaches. */
#ifndef NODE_TAP_READ_H
#define NODE_TAP_READ_H

#include "node/stats_read.h"
#include "node/tap.h"

struct tap_reader;

/* Starts to trace a node that stats_read found. `ring_bytes` is a power of two. DXP_EBUSY: process
 * *other traces the node; DXP_ENOENT: the node has exited; DXP_EACCESS: the node belongs to another
 * user; DXP_EIO: no space for the ring; DXP_ENOMEM. */
int tap_attach(const struct stats_view *node, uint32_t ring_bytes, uint32_t snap_bytes,
	       struct tap_reader **out, uint32_t *other);

/* Requests the node to stop. The node has stopped when tap_answered no longer returns
 * TAP_REQUESTED. Records that are already in the ring can still be read. */
void tap_stop(struct tap_reader *t);

/* Stops tracing and frees everything. `t` may be NULL. */
void tap_detach(struct tap_reader *t);

enum tap_answer {
	/* the node has not handled the request yet, because it sleeps or its program is stopped */
	TAP_REQUESTED,
	TAP_BUSY, /* the node writes its datagrams to the ring */
	/* the node does not write to the ring, because it writes to a file (DXP_TRACE) */
	TAP_REFUSED,
	TAP_GONE, /* the node has exited */
};
enum tap_answer tap_answered(const struct tap_reader *t);

/* Returns the next record, valid until tap_release; NULL: there is none. Sets *broken if the ring
 * has invalid data. */
const struct tap_record *tap_next(struct tap_reader *t, bool *broken);
void tap_release(struct tap_reader *t);

/* Returns the number of datagrams for which the ring had no space. */
uint64_t tap_dropped(const struct tap_reader *t);

#endif
