/* SPDX-License-Identifier: BSD-3-Clause */
/* What one xPU has to send: replies, events and the data of transfers, in order for each node and
 * kind, none ever dropped. The window takes 32 at a time and the NIC 64 per queue pair; what waits
 * for that waits here. A node that is silent holds up at most XPU_OUTBOX_FLIGHT messages of a kind,
 * XPU_OUTBOX_BULK where it is data of a bridge, on the queue pair that others share with it.
 *
 * Completions are in order on each queue pair, so a long PUT would hold up those of short replies
 * behind it, and a row of GETs those of the PUTs that give a bridge its buffers back: each kind has
 * a flight of its own, replies never share a queue pair with data, nor do the GETs and PUTs of one
 * bridged stream. Messages of one kind to one node leave through one queue pair, so a NAP to a peer
 * that is put in after a PUT to it arrives after its data. One thread. */
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
	OUTBOX_PUSH, /* PUTs of a bridge, which no event follows */
};

/* The end of a message: the NIC's status, or the reason it was never sent. Called from
 * outbox_service and outbox_drop, never from the functions that put something in. */
typedef void (*outbox_done)(void *context, int status);

/* Of registered memory here and over there; as long on both sides. */
struct outbox_piece {
	struct dxp_entry local, remote;
};

int outbox_create(struct dxp_window *window, struct outbox **out);
/* Forgets what is left; nobody is called. */
void outbox_destroy(struct outbox *o);
/* Ends everything with `status`, also what the NIC still has: its completions must not be taken any
 * more. */
void outbox_end(struct outbox *o, int status);

/* Puts in a NAP of up to NIC_NAP_BYTES_MAX, which is copied. `done` may be NULL. DXP_ENOMEM. */
int outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const void *data, uint32_t bytes, outbox_done done, void *context);
/* Puts in a PUT of one piece; kind PEER or PUSH. DXP_ENOMEM. */
int outbox_put(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
	       const struct outbox_piece *piece, outbox_done done, void *context);
/* Puts in a GET of one piece, as PULL. DXP_ENOMEM. */
int outbox_get(struct outbox *o, const struct dxp_target *to, const struct outbox_piece *piece,
	       outbox_done done, void *context);

/* How many wait or are under way to a node. */
uint32_t outbox_count(const struct outbox *o, uint16_t node);

/* Bytes of memory that those take. */
uint64_t outbox_bytes(const struct outbox *o, uint16_t node);

/* Ends what waits for this node with `status`; what is under way is the NIC's. */
void outbox_drop(struct outbox *o, uint16_t node, int status);

/* Takes completions and posts what there is room for. Returns how much happened. */
uint32_t outbox_service(struct outbox *o);
/* The last time something was left for want of room in the window. */
bool outbox_blocked(const struct outbox *o);
/* Messages of this node that the NIC has. */
uint32_t outbox_flight(const struct outbox *o, uint16_t node);

#endif
