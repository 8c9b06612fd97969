/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's group of switches (dxp/inc.h), and the thread in which its blocking calls run. Knows
 * neither tenants nor device memory.
 *
 * Threads: one caller uses all functions; it is woken when switch_group_poll() has news. */
#ifndef XPU_SWITCH_GROUP_H
#define XPU_SWITCH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

#include "wire/command.h"

struct switch_group;

struct switch_group_options {
	struct dxp_inc *inc; /* must outlive the group */
	uint32_t owner;      /* number of the host, for which it takes a share of the endpoint */
	uint32_t member, members;
	/* ns: longest wait for switch_group_share(); then the creation fails */
	uint64_t exchange_ns;
	void (*wake)(void *context); /* called by the group's thread */
	void *context;
};

struct switch_news {
	/* A contribution to the exchange among all members; 0 bytes: none. */
	uint8_t own[COMMAND_LOG_PART];
	uint32_t own_bytes;
	bool created; /* the creation is complete, with `status` */
	bool expired; /* the creation failed because switch_group_share() was not called */
	int status;
	char why[DXP_INC_WHY_BYTES]; /* reason of a failure */
	bool reduced;                /* the allreduce is complete, with reduce_status */
	int reduce_status;
	size_t elements; /* elements that have their result at all members */
	bool ended;      /* the thread will not use the group any more */
};

/* Starts the thread, which creates the group. DXP_ENOMEM, DXP_EIO: no thread (logged). */
int switch_group_open(const struct switch_group_options *options, struct switch_group **out);
/* Ends the thread and waits for it, as switch_group_leave() describes. The last news can be polled
 * then. */
void switch_group_stop(struct switch_group *g);
/* Stops the thread, and frees the group. */
void switch_group_close(struct switch_group *g);
/* Ends the thread, which stops the creation of a group. An outstanding allreduce then completes as
 * lost within seconds, and all other members lose the group. A member that leaves between
 * operations does not disturb the others. */
void switch_group_leave(struct switch_group *g);
/* Makes all members lose the group. */
void switch_group_give_up(struct switch_group *g);

/* Returns the reason why the group is lost, as this member knows it: DXP_ETIMEDOUT (no result),
 * DXP_ENOENT (the switch has no such group), DXP_ECANCELED (given up here), ... DXP_EPEERLOST:
 * another member announced it, or the group is not lost. */
int switch_group_lost_status(struct switch_group *g);

/* Returns true, once for each step, if something has happened. */
bool switch_group_poll(struct switch_group *g, struct switch_news *out);
/* Passes the contributions of all members to the exchange. DXP_EINVAL: the group has not requested
 * them, or the length is wrong. */
int switch_group_share(struct switch_group *g, const uint8_t *all, size_t bytes);

struct switch_reduce {
	const void *send; /* may equal `receive` */
	void *receive;
	size_t elements;
	enum dxp_inc_type type;
	enum dxp_inc_op op;
};

/* Starts an allreduce; `send` and `receive` belong to it until it completes. Statuses of
 * dxp_inc_allreduce_start(). DXP_EAGAIN: another one is outstanding. DXP_ENOENT: the group does not
 * exist. */
int switch_group_reduce(struct switch_group *g, const struct switch_reduce *r);

#endif
