/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that one xPU sends, in order for each node and kind; none is dropped. They wait here for
 * space in the window (32 entries) and in the NIC (64 per queue pair). A node has at most
 * XPU_OUTBOX_FLIGHT outstanding requests of a kind, or XPU_OUTBOX_BULK for data of bridges.
 *
 * A queue pair completes requests in order, so a long PUT would delay a reply behind it. For this
 * reason replies and data use different queue pairs, and so do GETs and PUTs of a bridge. Messages
 * of one kind to one node share a queue pair: a NAP queued after a PUT arrives after its data. One
 * thread calls all functions. */
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

/* Reports the completion of a message: the NIC's status, or the reason why it was not sent. Called
 * only from outbox_service, outbox_drop and outbox_end. */
typedef void (*outbox_done)(void *context, int status);

/* Registered memory on this node and at the peer, of equal length. */
struct outbox_piece {
	struct dxp_entry local, remote;
};

int outbox_create(struct dxp_window *window, struct outbox **out);
/* Frees the outbox and its waiting messages without calling `done`. */
void outbox_destroy(struct outbox *o);
/* Completes all messages with `status`. After this call, the NIC's completions must not be
 * dequeued. */
void outbox_end(struct outbox *o, int status);

/* Queues a NAP of up to NIC_NAP_BYTES_MAX bytes, which it copies. `done` may be NULL. DXP_ENOMEM:
 * out of memory. */
int outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const void *data, uint32_t bytes, outbox_done done, void *context);
/* Queues a PUT of one piece, of kind PEER or PUSH. DXP_ENOMEM: out of memory. */
int outbox_put(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const struct outbox_piece *piece, outbox_done done, void *context);
/* Queues a GET of one piece, of kind PULL. DXP_ENOMEM: out of memory. */
int outbox_get(struct outbox *o, const struct dxp_target *to, const struct outbox_piece *piece,
	       outbox_done done, void *context);

/* Returns the number of messages to a node, queued or outstanding. */
uint32_t outbox_count(const struct outbox *o, uint16_t node);

/* Returns the bytes of memory that the messages of outbox_count use. */
uint64_t outbox_bytes(const struct outbox *o, uint16_t node);

/* Completes queued messages to this node with `status`. Outstanding messages stay in the NIC. */
void outbox_drop(struct outbox *o, uint16_t node, int status);

/* Dequeues completions, and posts the messages that the window has space for. Returns the number of
 * both; 0: there was nothing to do. */
uint32_t outbox_service(struct outbox *o);
/* Returns true if the last outbox_service left messages because the window was full. */
bool outbox_blocked(const struct outbox *o);
/* Returns the number of messages to this node that the NIC has. */
uint32_t outbox_flight(const struct outbox *o, uint16_t node);

#endif
