/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of one xPU, in order for each node and kind; none is dropped. They wait for space in the
 * window (32 entries) and in the NIC (64 per queue pair). A node has at most XPU_OUTBOX_FLIGHT
 * outstanding requests of a kind, or XPU_OUTBOX_BULK for data of bridges.
 *
 * A queue pair completes in order, so a long PUT would delay a reply behind it. So replies and data
 * use different queue pairs, as do GETs and PUTs of a bridge. Messages of one kind to one node
 * share one: a NAP queued after a PUT arrives after its data. For one thread. */
#ifndef XPU_OUTBOX_H
#define XPU_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/user.h"

struct outbox;

enum outbox_kind {
	OUTBOX_HOST, /* replies and events to a host */
	OUTBOX_PEER, /* data and events to another xPU */
	OUTBOX_PULL, /* GETs of a bridge */
	OUTBOX_PUSH, /* PUTs of a bridge without a following event */
};

/* The NIC's status, or why the message was not sent. Called only from outbox_service, outbox_drop
 * and outbox_end. */
typedef void (*outbox_done)(void *context, int status);

/* Registered memory here and at the peer, of equal length. */
struct outbox_piece {
	struct dxp_entry local, remote;
};

int outbox_create(struct dxp_window *window, struct outbox **out);
void outbox_destroy(struct outbox *o);
/* Completes all messages with `status`; dequeue no completions of the NIC afterwards. */
void outbox_end(struct outbox *o, int status);

/* Copies up to NIC_NAP_BYTES_MAX bytes. `done` may be NULL. DXP_ENOMEM. */
int outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const void *data, uint32_t bytes, outbox_done done, void *context);
/* Queues a PUT, of kind PEER or PUSH. DXP_ENOMEM. */
int outbox_put(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const struct outbox_piece *piece, outbox_done done, void *context);
/* Queues a GET, of kind PULL. DXP_ENOMEM. */
int outbox_get(struct outbox *o, const struct dxp_target *to, const struct outbox_piece *piece,
	       outbox_done done, void *context);

/* Returns the number of queued or outstanding messages to a node. */
uint32_t outbox_count(const struct outbox *o, uint16_t node);

/* Memory of the messages of outbox_count. */
uint64_t outbox_bytes(const struct outbox *o, uint16_t node);

/* Completes queued messages with `status`. Outstanding ones stay in the NIC. */
void outbox_drop(struct outbox *o, uint16_t node, int status);

/* Dequeues completions and posts messages; returns the number of both. */
uint32_t outbox_service(struct outbox *o);
/* The window was full at the last outbox_service. */
bool outbox_blocked(const struct outbox *o);
/* Messages to this node that the NIC has. */
uint32_t outbox_flight(const struct outbox *o, uint16_t node);

#endif
