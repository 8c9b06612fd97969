/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of groups (dxp/collective.h). Plans come from src/collective; the files group*.c
 * post the steps of a plan as ordinary commands.
 *
 * Lock: `lock` guards a group; its caller holds it when it calls functions of this header. Lock
 * order: the lock of a group, then the lock of the fabric. */
#ifndef HOST_GROUP_H
#define HOST_GROUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <dxp/async.h>
#include <dxp/collective.h>
#include <dxp/inc.h>

#include "collective/plan.h"

/* A command that was posted for an operation. */
struct group_event {
	dxp_event event;
	/* member: executes the command; peer: destination if the command is a send, otherwise
	 * `member` */
	uint32_t member, peer;
};

struct group_operation {
	struct group_operation *next;
	enum plan_operation operation;
	struct group_event *events;
	uint32_t event_count;
	/* last event of each member; each is one of `events` */
	dxp_event ends[DXP_GROUP_MEMBERS_MAX];
	bool by_switches;
	/* An allreduce by switches: its arguments, to continue without them. NULL: it is none, or
	 * it has continued already. */
	struct group_call *call;
};

struct group_call {
	struct dxp_collective c; /* `parts` points to the next field; no events */
	struct dxp_part parts[DXP_GROUP_MEMBERS_MAX];
	uint64_t in_place;
};

#define GROUP_WHY_BYTES sizeof(((struct dxp_group_ways *)0)->why)

/* REFUSED: the next operation after `retry_ns` begins another attempt. RETRYING: the rescuer makes
 * it. */
enum group_switches { GROUP_UNTRIED, GROUP_JOINED, GROUP_REFUSED, GROUP_RETRYING };

/* Scratch memory of all members. If an operation needs more, a longer one is allocated. Outstanding
 * operations continue to use the shorter one. */
struct group_scratch {
	struct group_scratch *next;
	uint64_t bytes;
	uint32_t count; /* number of members that have scratch memory at `address` */
	uint64_t address[DXP_GROUP_MEMBERS_MAX];
};

struct dxp_group {
	struct dxp_fabric *fabric;
	pthread_mutex_t lock;
	uint32_t members;
	struct dxp_xpu *xpus[DXP_GROUP_MEMBERS_MAX];
	struct dxp_group_options options;
	struct dxp_program *programs[DXP_TYPES][DXP_REDUCTIONS][DXP_GROUP_MEMBERS_MAX];
	struct group_scratch *scratch;        /* list of scratch memories, newest first */
	struct group_scratch *fused;          /* the same, for the data of fused allreduces */
	struct fusion *fusion;                /* allreduces to be fused; NULL: no fusion */
	struct group_operation *first, **end; /* list of outstanding operations, oldest first */
	/* last event of the last operation at each member; 0: complete */
	dxp_event ends[DXP_GROUP_MEMBERS_MAX];
	bool guarded; /* see struct plan_request */
	enum group_switches switches;
	bool kernels; /* kernels use the switches, so this host does not */
	/* number of the group at the xPUs, which may be lost; 0: they are in none */
	uint32_t switch_number;
	/* ns: times of the last join and of the next attempt, and the time before that attempt */
	uint64_t joined_ns, retry_ns, retry_gap_ns;
	/* true: switches have refused to compute this */
	bool unsupported[DXP_TYPES][DXP_REDUCTIONS];
	struct dxp_group_ways ways;
	/* The rescuer is a thread that exists from the first use of switches on, or the second
	 * attempt. The fabric's lock guards the requests `rescuer_stop` and `rescuer_rejoin`. */
	pthread_t rescuer;
	bool rescuer_started, rescuer_stop, rescuer_rejoin;
	int status;     /* DXP_OK, or the reason why the group is lost */
	char text[256]; /* error text of `status` */
};

/* Returns the name of an operation, for error texts. */
const char *group_text(enum plan_operation operation);
/* Makes the group lost, with this thread's last error text. Has no effect if it is lost already.
 * Returns `status`. */
int group_lose(struct dxp_group *g, int status);
/* Puts the names of the operation and the member before this thread's last error text. Returns
 * `status`. */
int group_blame(const struct dxp_group *g, enum plan_operation operation, uint32_t member,
		int status);

/* group_check.c: checks the arguments of an operation. Sets *in_place as struct plan_request
 * describes it. */
int group_check(const struct dxp_group *g, enum plan_operation operation,
		const struct dxp_collective *c, uint64_t *in_place);

/* group.c: returns the way that the program has chosen for an operation. */
enum dxp_way group_way(const struct dxp_group *g, const struct dxp_collective *c);
/* Makes the plan of an operation. */
int group_plan(struct dxp_group *g, enum plan_operation operation, enum dxp_way way,
	       const struct dxp_collective *c, uint64_t in_place, struct plan *out);

/* Starts an operation. */
int group_start(struct dxp_group *g, enum plan_operation operation, const struct dxp_collective *c);
/* Sets the error of a lost group, or returns DXP_OK. */
int group_lost(const struct dxp_group *g);

/* group_fusion.c: between dxp_fusion_begin() and dxp_fusion_end() */
/* Adds a checked allreduce to the fusion. DXP_ENOMEM. */
int group_fusion_add(struct dxp_group *g, const struct dxp_collective *c);
/* Starts the allreduces that were added. */
int group_fusion_flush(struct dxp_group *g);
/* Ends the fusion; drops allreduces that were not started. */
void group_fusion_drop(struct dxp_group *g);

/* group_fusion_copy.c */
/* Copies the inputs of `count` calls to fused memory, as an operation of the group, or from there
 * to their outputs, which also sets their events. */
int group_fusion_gather(struct dxp_group *g, struct dxp_collective *const *calls, uint32_t count);
int group_fusion_scatter(struct dxp_group *g, struct dxp_collective *const *calls, uint32_t count);

/* group_switch.c */
/* Makes the members join a group of switches, unless they have. Waits for the first attempt; later
 * ones are only begun here. Returns false if the group uses no switches; ways.why has the reason.
 */
bool group_switch_join(struct dxp_group *g);
/* Returns true if switches shall compute this operation, after group_switch_join(). */
bool group_switch_use(struct dxp_group *g, enum plan_operation operation,
		      const struct dxp_collective *c);
/* Lets operations use no switches until a later attempt. group_switch_refuse() also records the
 * reason. */
void group_switch_suspend(struct dxp_group *g);
void group_switch_refuse(struct dxp_group *g, const char *why);
/* Rescuer, without the group's lock: leaves the lost group of switches, and joins another. No
 * operation may need the lost one. */
void group_switch_rejoin(struct dxp_group *g);
/* Records that switches cannot compute this, so that later operations do not try. */
void group_switch_unsupported(struct dxp_group *g, enum dxp_type type,
			      enum dxp_reduction reduction);
/* Makes the members leave the switches, if they are in a group of them. */
void group_switch_leave(struct dxp_group *g);

/* group_join.c; the caller need not hold the group's lock */
/* Makes the members join group `number` of switches, which lasts as long as the switches take to
 * answer. Returns false, with the reason, if a member cannot; then none is in it. The fabric's lock
 * guards *stop, which ends the attempt early; NULL: nothing does. */
bool group_join(const struct dxp_group *g, uint32_t number, const bool *stop,
		char why[GROUP_WHY_BYTES]);
void group_leave(const struct dxp_group *g, uint32_t number);
/* Puts the name of a member before a reason. */
void group_member_why(const struct dxp_group *g, uint32_t member, const char *why,
		      char out[GROUP_WHY_BYTES]);

/* group_rescue.c */
/* Continues allreduces that lost their switches: when each member has reported how much of the
 * result it has, posts the commands for the rest. If the group was aborted, lets them fail. */
void group_rescue(struct dxp_group *g);
/* Does nothing if it runs. DXP_ENOMEM: no thread; group_switch_refuse() was called. */
int group_rescuer_start(struct dxp_group *g);
/* Lets the rescuer call group_switch_rejoin(); starts it if needed. */
void group_rescuer_rejoin(struct dxp_group *g);
/* Ends an attempt to join switches early. Releases the group's lock meanwhile. */
void group_rescuer_stop(struct dxp_group *g);

/* group_memory.c */
/* Allocates scratch memory. For operations that combine values, also builds the programs. */
int group_prepare(struct dxp_group *g, enum plan_operation operation,
		  const struct dxp_collective *c, uint64_t scratch_bytes);
/* Removes all scratch memory except the newest; with `all`, also the newest, for which the rescuer
 * must have stopped. If `give` is true, frees it on the xPUs; then no operation may be
 * outstanding. */
void group_scratch_free(struct dxp_group *g, bool all, bool give);
/* Allocates memory for fused allreduces of `bytes` bytes. */
int group_fused_prepare(struct dxp_group *g, uint64_t bytes);
void group_programs_release(struct dxp_group *g);

/* group_post.c */
/* Posts all steps of a plan. If this fails, the group is lost. Owns `call`, also after a failure;
 * it is NULL unless switches compute the operation. */
int group_post(struct dxp_group *g, enum plan_operation operation, const struct plan *plan,
	       const struct dxp_collective *c, struct group_call *call);
/* Posts the steps of a plan that continues operation `o`. Sets the last event of each member in
 * `ends`. */
int group_post_more(struct dxp_group *g, struct group_operation *o, const struct plan *plan,
		    const struct dxp_collective *c, dxp_event ends[DXP_GROUP_MEMBERS_MAX]);

/* group_end.c */
/* Removes operations that are complete. If one has failed, the group is lost. */
void group_retire(struct dxp_group *g);
/* Waits until all operations are complete or the deadline has passed. Releases the group's lock
 * between two waits. */
int group_drain(struct dxp_group *g, uint64_t deadline_ns);
/* Removes all operations without waiting. */
void group_forget(struct dxp_group *g);

#endif
