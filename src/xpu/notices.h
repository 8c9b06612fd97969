/* SPDX-License-Identifier: BSD-3-Clause */
/* Events for other xPUs, where commands wait for them. A session between two xPUs can fail although
 * both stay in the fabric, for example after a cut of some seconds. Events lost with it are sent
 * again until the other xPU has them or has restarted; after XPU_NOTICE_NS, the host fails instead.
 * A second arrival has no effect. For one thread. */
#ifndef XPU_NOTICES_H
#define XPU_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/command.h"
#include "xpu/outbox.h"

struct notices;

/* A host and its memory, which distinguishes it from earlier hosts of this node. */
struct notice_host {
	uint16_t node;
	uint32_t owner;
};

/* `context` is that of notices_create(). */
struct notices_hooks {
	/* Finds the magic of a live xPU. DXP_EINVAL: it is none; other errors may pass. DXP_ENOENT:
	 * no such node, perhaps because its row comes late. */
	int (*find)(void *context, uint16_t node, uint32_t *magic);
	/* Calls `done` once, later, if it returns DXP_OK. */
	int (*send)(void *context, uint16_t node, uint32_t magic, const struct command_event *e,
		    outbox_done done, void *done_context);
	uint64_t (*now_ns)(void *context);
	/* The host still uses this xPU. */
	bool (*needed)(void *context, const struct notice_host *host);
	/* Evicts the host: the xPU `node` cannot get its events, so its commands there may wait
	 * for ever. `status`: DXP_ETIMEDOUT; DXP_EACCESS: the two may not exchange messages any
	 * more; DXP_ENOENT: the node table here has no such node; DXP_EBUSY: XPU_NOTICES_MAX;
	 * DXP_ENOMEM. */
	void (*failed)(void *context, const struct notice_host *host, uint16_t node, int status);
};

int notices_create(const struct notices_hooks *hooks, void *context, struct notices **out);
/* All calls of `done` must have been made. */
void notices_destroy(struct notices *n);
/* Sends an event to the xPU `node`. Without memory, the host fails. If more than XPU_NOTICES_MAX
 * events are lost, the next notices_advance() fails the host with most of them. */
void notice_send(struct notices *n, const struct notice_host *host, uint16_t node,
		 const struct command_event *e);
/* The node was lost, so its commands have ended. No host fails because of it while it is not in the
 * node table. */
void notices_left(struct notices *n, uint16_t node);
/* Sends due events again, in the order of their losses; returns their number. */
uint32_t notices_advance(struct notices *n);
/* UINT64_MAX: none is due. */
uint64_t notices_deadline(const struct notices *n);

#endif
