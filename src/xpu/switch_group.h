/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's group of switches (dxp/inc.h), and the thread of its blocking calls. Knows neither
 * tenants nor device memory.
 *
 * One thread calls all functions; it is woken when switch_group_poll() has news. */
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
	uint32_t owner;      /* of the host that gets a share of the endpoint */
	uint32_t member, members;
	/* ns, longest wait for switch_group_share(); then the creation fails */
	uint64_t exchange_ns;
	void (*wake)(void *context); /* called by the group's thread */
	void *context;
};

struct switch_news {
	/* this member's part of the exchange among all members; 0 bytes: none */
	uint8_t own[COMMAND_LOG_PART];
	uint32_t own_bytes;
	bool created; /* the creation has ended, with `status` */
	bool expired; /* no switch_group_share() came in time */
	int status;
	char why[DXP_INC_WHY_BYTES]; /* reason of a failure */
	bool reduced;                /* a reduction has ended, with reduce_status */
	int reduce_status;
	size_t elements; /* number of elements whose result all members have */
	bool ended;      /* the thread does not use the group any more */
};

/* DXP_ENOMEM, DXP_EIO: no thread (logged). */
int switch_group_open(const struct switch_group_options *options, struct switch_group **out);
/* Ends the thread as switch_group_leave() does, and waits. The last news can be polled then. */
void switch_group_stop(struct switch_group *g);
void switch_group_close(struct switch_group *g);
/* Ends the thread, also while it creates the group. An outstanding allreduce then completes as lost
 * within seconds, and all other members lose the group. A member that leaves between operations
 * does not disturb the others. */
void switch_group_leave(struct switch_group *g);
/* Makes all members lose the group. */
void switch_group_give_up(struct switch_group *g);

/* Why the group is lost, as this member knows it: DXP_ETIMEDOUT (no result), DXP_ENOENT (the switch
 * has no such group), DXP_ECANCELED (given up here), ... DXP_EPEERLOST: another member announced
 * it, or the group is not lost. */
int switch_group_lost_status(struct switch_group *g);

/* Returns true once for each news. */
bool switch_group_poll(struct switch_group *g, struct switch_news *out);
/* Contributions of all members. DXP_EINVAL: not requested, or the length is wrong. */
int switch_group_share(struct switch_group *g, const uint8_t *all, size_t bytes);

struct switch_reduce {
	const void *send; /* may equal `receive` */
	void *receive;
	size_t elements;
	enum dxp_inc_type type;
	enum dxp_inc_op op;
};

/* `send` and `receive` belong to it until it completes. Statuses of dxp_inc_allreduce_start().
 * DXP_EAGAIN: another one is outstanding. DXP_ENOENT: the group does not exist. */
int switch_group_reduce(struct switch_group *g, const struct switch_reduce *r);

#endif
