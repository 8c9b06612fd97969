/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that one xPU sends: replies, events and data of transfers, in order for each node and
 * kind, none ever dropped. Those that window (32) and NIC (64 per queue pair) have no space for
 * wait here. A silent node occupies at most XPU_OUTBOX_FLIGHT requests of a kind (XPU_OUTBOX_BULK
 * of bridge data) on a shared queue pair.
 *
 * Completions are in order on each queue pair. A long PUT would delay those of later replies,
 * and a burst of GETs those of PUTs that free a bridge's buffers. So each kind has its own
 * limit, replies never share a queue pair with data, nor GETs with PUTs of one bridged stream.
 * Messages of one kind to one node use one queue pair: a NAP queued after a PUT to the same peer
 * arrives after its data. One thread. */
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
	OUTBOX_PUSH, /* PUTs of a bridge that no event follows */
};

/* Completes a message with the NIC's status, or with the reason why it was not sent. Called from
 * outbox_service, outbox_drop and outbox_end only. */
typedef void (*outbox_done)(void *context, int status);

/* Registered memory here and at the peer, of equal length. */
struct outbox_piece {
	struct dxp_entry local, remote;
};

int outbox_create(struct dxp_window *window, struct outbox **out);
/* Frees what is left without calling `done`. */
void outbox_destroy(struct outbox *o);
/* Completes everything with `status`, also what the NIC has; its completions must not be
 * dequeued any more. */
void outbox_end(struct outbox *o, int status);

/* Queues a NAP of up to NIC_NAP_BYTES_MAX, copied. `done` may be NULL. DXP_ENOMEM. */
int outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const void *data, uint32_t bytes, outbox_done done, void *context);
/* Queues a PUT of one piece; kind PEER or PUSH. DXP_ENOMEM. */
int outbox_put(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const struct outbox_piece *piece, outbox_done done, void *context);
/* Queues a GET of one piece, as PULL. DXP_ENOMEM. */
int outbox_get(struct outbox *o, const struct dxp_target *to, const struct outbox_piece *piece,
	       outbox_done done, void *context);

/* Counts messages to a node, queued or under way. */
uint32_t outbox_count(const struct outbox *o, uint16_t node);

/* Returns the memory of those. */
uint64_t outbox_bytes(const struct outbox *o, uint16_t node);

/* Completes queued messages to this node with `status`; those under way stay with the NIC. */
void outbox_drop(struct outbox *o, uint16_t node, int status);

/* Dequeues completions and posts what the window has space for. Returns the amount of work. */
uint32_t outbox_service(struct outbox *o);
/* Returns whether the last outbox_service left messages because the window was full. */
bool outbox_blocked(const struct outbox *o);
/* Counts messages to this node that the NIC has. */
uint32_t outbox_flight(const struct outbox *o, uint16_t node);

#endif
