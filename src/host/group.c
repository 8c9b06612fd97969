/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys groups of xPUs, and starts their operations. */
#include "host/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collective/limits.h"
#include "host/internal.h"

const char *group_text(enum plan_operation operation)
{
	static const char *const texts[PLAN_OPERATIONS] = {
		[PLAN_ALLREDUCE] = "allreduce",
		[PLAN_REDUCE] = "reduce",
		[PLAN_REDUCE_SCATTER] = "reduce-scatter",
		[PLAN_ALL_GATHER] = "all-gather",
		[PLAN_BROADCAST] = "broadcast",
		[PLAN_ALL_TO_ALL] = "all-to-all",
		[PLAN_BARRIER] = "barrier",
	};

	return texts[operation];
}

int group_lose(struct dxp_group *g, int status)
{
	if (g->status != DXP_OK)
		return status;
	g->status = status;
	snprintf(g->text, sizeof(g->text), "%s", error_text());
	return status;
}

int group_blame(const struct dxp_group *g, enum plan_operation operation, uint32_t member,
		int status)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", error_text());
	return error_set(status, "%s, member %u (xPU '%s'): %s", group_text(operation), member,
			 g->xpus[member]->caps.name, text);
}

int group_lost(const struct dxp_group *g)
{
	return g->status == DXP_OK ? DXP_OK : error_set(g->status, "%s", g->text);
}

static int create_check(struct dxp_fabric *fabric, struct dxp_xpu *const *members, uint32_t count,
			const struct dxp_group_options *o)
{
	if (!members || count < 1 || count > DXP_GROUP_MEMBERS_MAX)
		return error_set(DXP_EINVAL, "group: %u members; use 1 to %d", members ? count : 0,
				 DXP_GROUP_MEMBERS_MAX);
	if ((unsigned)o->way >= DXP_WAYS)
		return error_set(DXP_EINVAL, "group: way %d; use an enum dxp_way", (int)o->way);
	if (o->scratch_bytes && o->scratch_bytes < COLLECTIVE_SCRATCH_MIN)
		return error_set(DXP_EINVAL, "group: scratch_bytes %llu; use 0 or at least %llu",
				 (unsigned long long)o->scratch_bytes, COLLECTIVE_SCRATCH_MIN);
	for (uint32_t m = 0; m < count; m++) {
		if (!members[m] || members[m]->fabric != fabric)
			return error_set(DXP_EINVAL,
					 "group: member %u is %s; open all members through one "
					 "fabric",
					 m, members[m] ? "of another fabric" : "NULL");
		if (members[m]->status != DXP_OK)
			return error_xpu(members[m], members[m]->status, "group");
	}
	return DXP_OK;
}

int dxp_group_create(struct dxp_fabric *fabric, struct dxp_xpu *const *members, uint32_t count,
		     const struct dxp_group_options *options, struct dxp_group **out)
{
	const struct dxp_group_options chosen = options ? *options : (struct dxp_group_options){0};
	int status = create_check(fabric, members, count, &chosen);

	if (status != DXP_OK)
		return status;
	struct dxp_group *g = calloc(1, sizeof(*g));
	if (!g)
		return error_set(DXP_ENOMEM, "out of memory");
	g->fabric = fabric;
	g->members = count;
	memcpy(g->xpus, members, count * sizeof(struct dxp_xpu *));
	g->options = chosen;
	if (!g->options.scratch_bytes)
		g->options.scratch_bytes = COLLECTIVE_SCRATCH;
	g->end = &g->first;
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return DXP_OK;
}

void dxp_group_destroy(struct dxp_group *group)
{
	if (!group)
		return;
	pthread_mutex_lock(&group->lock);
	if (group->status != DXP_ECLOSED)
		group_drain(group, clock_now_ns() + HOST_GROUP_END_NS);
	/* From here on, no operation continues, so nothing needs scratch memory. */
	group_rescuer_stop(group);
	/* A late PUT may still arrive in the scratch memory of outstanding operations. So that
	 * memory is not freed here; it is freed when the xPU is closed. */
	group_fusion_drop(group);
	group_scratch_free(group, true, group->first == NULL);
	group_switch_leave(group);
	group_forget(group);
	group_programs_release(group);
	pthread_mutex_unlock(&group->lock);
	pthread_mutex_destroy(&group->lock);
	free(group);
}

void dxp_group_abort(struct dxp_group *group)
{
	pthread_mutex_lock(&group->lock);
	error_set(DXP_ECLOSED, "the group was aborted; create another");
	group_lose(group, DXP_ECLOSED);
	if (group->kernels)
		group_switch_leave(group);
	pthread_mutex_unlock(&group->lock);
}

int dxp_group_wait(struct dxp_group *group, uint64_t timeout_ns)
{
	const uint64_t now_ns = clock_now_ns();

	pthread_mutex_lock(&group->lock);
	int status = group_drain(group, timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns
									 : UINT64_MAX);
	if (group->status != DXP_OK)
		status = group_lost(group);
	else if (status != DXP_OK)
		error_set(status, "%s: not complete yet", group_text(group->first->operation));
	pthread_mutex_unlock(&group->lock);
	return status;
}

void dxp_group_ways_sized(struct dxp_group *group, struct dxp_group_ways *out, size_t out_bytes)
{
	pthread_mutex_lock(&group->lock);
	host_copy_sized(out, out_bytes, &group->ways, sizeof(group->ways));
	pthread_mutex_unlock(&group->lock);
}

int dxp_group_status(struct dxp_group *group)
{
	pthread_mutex_lock(&group->lock);
	group_retire(group);
	int status = group_lost(group);
	pthread_mutex_unlock(&group->lock);
	return status;
}

/* ---- operations ---- */

enum dxp_way group_way(const struct dxp_group *g, const struct dxp_collective *c)
{
	return c->way == DXP_WAY_AUTO ? g->options.way : c->way;
}

int group_plan(struct dxp_group *g, enum plan_operation operation, enum dxp_way way,
	       const struct dxp_collective *c, uint64_t in_place, struct plan *out)
{
	const struct plan_request r = {
		.operation = operation,
		.way = way,
		.members = g->members,
		.root = c->root,
		.count = operation == PLAN_BARRIER ? 0 : c->count,
		.element_bytes = (uint32_t)dxp_type_bytes(c->type),
		.scratch_bytes = g->options.scratch_bytes,
		.in_place = in_place,
		.average = c->reduction == DXP_AVERAGE,
		.guarded = g->guarded,
	};
	int status = plan_make(&r, out);

	if (status == DXP_OK)
		return DXP_OK;
	plan_free(out);
	return error_set(status,
			 "%s of %llu elements: out of memory for its commands; use larger "
			 "scratch_bytes or shorter operations",
			 group_text(operation), (unsigned long long)c->count);
}

/* Checks the members before anything is posted: if a member is lost, the group becomes lost. */
static int members_check(struct dxp_group *g, enum plan_operation operation)
{
	int status = DXP_OK;

	host_fabric_enter(g->fabric);
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++) {
		status = g->xpus[m]->status;
		if (status == DXP_OK)
			continue;
		error_xpu(g->xpus[m], status, "lost");
		group_blame(g, operation, m, status);
	}
	host_fabric_leave(g->fabric);
	return status == DXP_OK ? DXP_OK : group_lose(g, status);
}

/* Copies the arguments of an allreduce by switches, to continue it without them. */
static struct group_call *call_copy(const struct dxp_group *g, const struct dxp_collective *c,
				    uint64_t in_place)
{
	struct group_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->c = *c;
	call->c.parts = call->parts;
	call->c.events = NULL;
	call->c.started = NULL;
	call->in_place = in_place;
	memcpy(call->parts, c->parts, g->members * sizeof(*c->parts));
	for (uint32_t m = 0; m < g->members; m++) {
		call->parts[m].wait = NULL;
		call->parts[m].wait_count = 0;
	}
	return call;
}

/* Posts a plan. `through` is not NULL if switches compute it; then it is the mask of in-place
 * members. */
static int plan_start(struct dxp_group *g, enum plan_operation operation,
		      const struct dxp_collective *c, const struct plan *plan,
		      const uint64_t *through)
{
	struct group_call *call = through ? call_copy(g, c, *through) : NULL;
	int status = DXP_OK;

	if (through && !call)
		return error_set(DXP_ENOMEM, "out of memory");
	if (!through)
		status = group_prepare(g, operation, c, plan->scratch_bytes);
	if (status == DXP_OK)
		status = group_post(g, operation, plan, c, call);
	if (status == DXP_OK)
		g->guarded = !plan->synchronizing;
	return status;
}

/* Checks everything before an operation is started or collected. */
static int start_check(struct dxp_group *g, enum plan_operation operation,
		       const struct dxp_collective *c, uint64_t *in_place)
{
	group_retire(g);
	int status = group_lost(g);
	if (status == DXP_OK)
		status = members_check(g, operation);
	return status == DXP_OK ? group_check(g, operation, c, in_place) : status;
}

int group_start(struct dxp_group *g, enum plan_operation operation, const struct dxp_collective *c)
{
	struct plan plan;
	uint64_t in_place = 0;
	int status = start_check(g, operation, c, &in_place);

	if (status != DXP_OK)
		return status;
	const bool through = group_switch_use(g, operation, c);
	enum dxp_way way = through ? DXP_WAY_SWITCH : group_way(g, c);
	if (!through && way == DXP_WAY_SWITCH)
		way = DXP_WAY_AUTO;
	status = group_plan(g, operation, way, c, in_place, &plan);
	if (status != DXP_OK)
		return status;
	status = plan_start(g, operation, c, &plan, through ? &in_place : NULL);
	if (status == DXP_OK) {
		g->ways.operations[plan.way]++;
		if (c->started)
			*c->started = plan.way;
	}
	plan_free(&plan);
	return status;
}

/* During a fusion, an allreduce is only collected. */
static int start_or_collect(struct dxp_group *g, enum plan_operation operation,
			    const struct dxp_collective *c)
{
	uint64_t in_place = 0;
	int status;

	if (g->fusion && operation == PLAN_ALLREDUCE) {
		status = start_check(g, operation, c, &in_place);
		return status == DXP_OK ? group_fusion_add(g, c) : status;
	}
	status = g->fusion ? group_fusion_flush(g) : DXP_OK;
	return status == DXP_OK ? group_start(g, operation, c) : status;
}

/* `bytes`: size of the program's struct. */
static int start(struct dxp_group *g, enum plan_operation operation, const struct dxp_collective *c,
		 size_t bytes)
{
	struct dxp_collective full;

	if (!c)
		return error_set(DXP_EINVAL, "%s: no struct dxp_collective", group_text(operation));
	host_copy_sized(&full, sizeof(full), c, bytes);
	pthread_mutex_lock(&g->lock);
	int status = start_or_collect(g, operation, &full);
	pthread_mutex_unlock(&g->lock);
	return status;
}

/* Defines a function and the one for programs that were built with a release without it, where the
 * struct ended with `events`. */
#define OPERATION(name, operation)                                                              \
	int name##_sized(struct dxp_group *group, const struct dxp_collective *c, size_t bytes) \
	{                                                                                       \
		return start(group, operation, c, bytes);                                       \
	}                                                                                       \
	int(name)(struct dxp_group * group, const struct dxp_collective *c)                     \
	{                                                                                       \
		return start(group, operation, c,                                               \
			     HOST_STRUCT_BYTES(struct dxp_collective, events));                 \
	}

OPERATION(dxp_allreduce, PLAN_ALLREDUCE)
OPERATION(dxp_reduce, PLAN_REDUCE)
OPERATION(dxp_reduce_scatter, PLAN_REDUCE_SCATTER)
OPERATION(dxp_all_gather, PLAN_ALL_GATHER)
OPERATION(dxp_broadcast, PLAN_BROADCAST)
OPERATION(dxp_all_to_all, PLAN_ALL_TO_ALL)
OPERATION(dxp_barrier, PLAN_BARRIER)
