/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of groups (dxp/collective.h). Plans come from src/collective; files group*.c post
 * their steps as ordinary commands.
 *
 * Lock: `lock` guards a group; functions here are called with it. Lock order: a group's, then the
 * fabric's. */
#ifndef HOST_GROUP_H
#define HOST_GROUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <dxp/async.h>
#include <dxp/collective.h>

#include "collective/plan.h"

/* A posted command of an operation. */
struct group_event {
	dxp_event event;
	uint32_t member, peer; /* peer: destination of a send; else `member` */
};

struct group_operation {
	struct group_operation *next;
	enum plan_operation operation;
	struct group_event *events;
	uint32_t event_count;
	dxp_event ends[DXP_GROUP_MEMBERS_MAX]; /* of `events` */
};

/* Scratch memory of all members. A longer one replaces it; outstanding operations still use the
 * former. */
struct group_scratch {
	struct group_scratch *next;
	uint64_t bytes;
	uint32_t count; /* members that have theirs */
	uint64_t address[DXP_GROUP_MEMBERS_MAX];
};

struct dxp_group {
	struct dxp_fabric *fabric;
	pthread_mutex_t lock;
	uint32_t members;
	struct dxp_xpu *xpus[DXP_GROUP_MEMBERS_MAX];
	struct dxp_group_options options;
	struct dxp_program *programs[DXP_TYPES][DXP_REDUCTIONS][DXP_GROUP_MEMBERS_MAX];
	struct group_scratch *scratch;         /* newest first */
	struct group_operation *first, **end;  /* outstanding, oldest first */
	dxp_event ends[DXP_GROUP_MEMBERS_MAX]; /* of the last operation; 0: complete */
	bool guarded;                          /* see struct plan_request */
	int status;                            /* DXP_OK, or why it is lost */
	char text[256];                        /* why */
};

/* Returns the name of an operation, for texts. */
const char *group_text(enum plan_operation operation);
/* Makes the group lost with this thread's last error text, unless it is lost. Returns `status`. */
int group_lose(struct dxp_group *g, int status);
/* Prefixes this thread's last error text by operation and member. Returns `status`. */
int group_blame(const struct dxp_group *g, enum plan_operation operation, uint32_t member,
		int status);

/* group_check.c: checks an operation's arguments; sets *in_place as struct plan_request has it. */
int group_check(const struct dxp_group *g, enum plan_operation operation,
		const struct dxp_collective *c, uint64_t *in_place);

/* group_memory.c */
/* Provides scratch memory and, for operations that combine, programs. */
int group_prepare(struct dxp_group *g, enum plan_operation operation,
		  const struct dxp_collective *c, uint64_t scratch_bytes);
/* Drops scratch memory but for the newest, or all. `give`: returns it to the xPUs, for which no
 * operation may be outstanding. */
void group_scratch_free(struct dxp_group *g, bool all, bool give);
void group_programs_release(struct dxp_group *g);

/* group_post.c: posts all steps. After a failure the group is lost. */
int group_post(struct dxp_group *g, enum plan_operation operation, const struct plan *plan,
	       const struct dxp_collective *c);

/* group_end.c */
/* Removes completed operations; loses the group if one has failed. */
void group_retire(struct dxp_group *g);
/* Waits until all operations are complete or the deadline. Releases the lock meanwhile. */
int group_drain(struct dxp_group *g, uint64_t deadline_ns);
/* Forgets all operations. */
void group_forget(struct dxp_group *g);

#endif
