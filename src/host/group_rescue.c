/* SPDX-License-Identifier: BSD-3-Clause */
/* Continues allreduces whose switches are lost, or cannot compute them. Such a command stays
 * outstanding at its xPU, so that everything that waits for its event goes on waiting. When all
 * members have reported how much of the result they have, this host posts the rest as a ring or
 * tree, then lets each member's command complete after the ring. If that is impossible, the
 * commands fail. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "collective/rescue.h"
#include "host/group.h"
#include "host/internal.h"

static void report_add(struct rescue *r, uint32_t member, const struct host_event *entry)
{
	if (!entry || (entry->state == HOST_EVENT_DONE && entry->status == DXP_OK))
		rescue_add(r, member, RESCUE_COMPLETE, DXP_OK, 0);
	else if (entry->state == HOST_EVENT_DONE)
		rescue_add(r, member, RESCUE_FAILED, entry->status, 0);
	else if (!entry->lost)
		rescue_add(r, member, RESCUE_PENDING, DXP_OK, 0);
	else
		rescue_add(r, member, RESCUE_LOST, entry->status, entry->done_bytes);
}

static void reports_read(struct dxp_group *g, const struct group_operation *o, struct rescue *r)
{
	*r = (struct rescue){0};
	host_fabric_enter(g->fabric);
	for (uint32_t m = 0; m < g->members; m++) {
		struct host_event *entry = NULL;
		struct dxp_xpu *x;
		if (!events_of(g->fabric, o->ends[m], &x, &entry))
			entry = NULL;
		report_add(r, m, entry);
	}
	host_fabric_leave(g->fabric);
}

/* Lets the command of a member complete: after event `end`, or at once with a failure. */
static int settle(struct dxp_xpu *x, dxp_event command, dxp_event end, int status)
{
	struct command_waits waits = {.count = 0};
	struct command c;

	command_begin(&c, COMMAND_SETTLE);
	c.settles = command;
	host_fabric_enter(x->fabric);
	int posted = x->status == DXP_OK ? host_command_space(x) : x->status;
	if (posted == DXP_OK && end)
		posted = waits_resolve(x, &end, 1, &waits);
	c.status = status == DXP_OK && waits.failed ? DXP_ECANCELED : status;
	if (waits.failed)
		waits = (struct command_waits){.count = 0};
	if (posted == DXP_OK)
		posted = host_command_start(x, &c, &waits, NULL);
	host_fabric_leave(x->fabric);
	return posted;
}

static void all_fail(struct dxp_group *g, const struct group_operation *o, const struct rescue *r,
		     int status)
{
	for (uint32_t m = 0; m < g->members; m++)
		if (r->is_lost[m])
			(void)settle(g->xpus[m], o->ends[m], 0, status);
}

/* Posts the part of the operation after the first `done_bytes` bytes. */
static int rest_post(struct dxp_group *g, struct group_operation *o, uint64_t done_bytes,
		     dxp_event ends[DXP_GROUP_MEMBERS_MAX])
{
	struct group_call *call = o->call;
	struct plan plan;

	call->c.count -= done_bytes / dxp_type_bytes(call->c.type);
	for (uint32_t m = 0; m < g->members; m++) {
		call->parts[m].from += done_bytes;
		call->parts[m].to += done_bytes;
	}
	int status = group_plan(g, o->operation, DXP_WAY_AUTO, &call->c, call->in_place, &plan);
	if (status != DXP_OK)
		return status;
	status = group_prepare(g, o->operation, &call->c, plan.scratch_bytes);
	if (status == DXP_OK)
		status = group_post_more(g, o, &plan, &call->c, ends);
	plan_free(&plan);
	return status;
}

static int lost_continue(struct dxp_group *g, struct group_operation *o, const struct rescue *r,
			 enum rescue_step step)
{
	dxp_event ends[DXP_GROUP_MEMBERS_MAX] = {0};
	int status = DXP_OK;

	if (step == RESCUE_CANCEL)
		return DXP_ECANCELED;
	if (step == RESCUE_DIFFER)
		return error_set(DXP_EPEERLOST,
				 "%s: the switches are lost, and the members have different parts "
				 "of the result, because one was stopped for seconds; repeat it "
				 "with a new group",
				 group_text(o->operation));
	if (step == RESCUE_REST)
		status = rest_post(g, o, r->done_bytes, ends);
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++)
		status = settle(g->xpus[m], o->ends[m], ends[m], DXP_OK);
	g->ways.continued += status == DXP_OK;
	return status;
}

static void loss_note(struct dxp_group *g, const struct group_operation *o, const struct rescue *r)
{
	const struct dxp_collective *c = &o->call->c;
	char why[sizeof(g->ways.why)];

	if (r->reason == DXP_EUNSUPPORTED) {
		group_switch_unsupported(g, c->type, c->reduction);
		return;
	}
	snprintf(why, sizeof(why),
		 "the switches were lost during an operation (member %u, xPU '%.40s': %.70s); "
		 "check dxp-switch (\"dxp inc\"); the group tries again by itself",
		 r->reason_member, g->xpus[r->reason_member]->caps.name,
		 dxp_status_text(r->reason));
	group_switch_refuse(g, why);
}

/* Handles one operation. False: it must be looked at again later. If a member has failed, the
 * others only lost it; then group_retire() reports that failure. */
static bool operation_look(struct dxp_group *g, struct group_operation *o)
{
	struct rescue r;

	reports_read(g, o, &r);
	const enum rescue_step step =
		rescue_decide(&r, o->call->c.count * dxp_type_bytes(o->call->c.type));
	if (step == RESCUE_NOTHING)
		return true;
	group_switch_suspend(g);
	if (step == RESCUE_AWAIT)
		return false;
	if (step != RESCUE_CANCEL)
		loss_note(g, o, &r);
	int status = lost_continue(g, o, &r, step);
	if (status != DXP_OK && status != DXP_ECANCELED) {
		group_switch_refuse(g, error_text());
		group_lose(g, status);
	}
	if (status != DXP_OK)
		all_fail(g, o, &r, status);
	free(o->call);
	o->call = NULL;
	return true;
}

/* Lets the lost commands of an aborted group fail. */
static void aborted_fail(struct dxp_group *g)
{
	struct rescue r;

	for (struct group_operation *o = g->first; o; o = o->next) {
		if (!o->call)
			continue;
		reports_read(g, o, &r);
		all_fail(g, o, &r, DXP_ECLOSED);
	}
}

/* Returns true if an operation has lost its switches and must be looked at again. */
static bool rescue(struct dxp_group *g)
{
	if (g->status == DXP_ECLOSED) {
		aborted_fail(g);
		return false;
	}
	for (struct group_operation *o = g->first; o; o = o->next)
		if (o->call && !operation_look(g, o))
			return true;
	return false;
}

void group_rescue(struct dxp_group *g)
{
	rescue(g);
}

/* ---- the thread ---- */

/* Waits for a report of a lost switch or a request, or for a moment if `soon` is true. Caller holds
 * the fabric's lock. */
static void report_await(struct dxp_group *g, uint32_t seen, bool soon)
{
	const uint64_t until_ns = clock_now_ns() + HOST_GROUP_LOOK_NS;
	const struct timespec until = {(time_t)(until_ns / S_NS), (long)(until_ns % S_NS)};

	while (!g->rescuer_stop && !g->rescuer_rejoin && g->fabric->losses == seen) {
		if (!soon)
			pthread_cond_wait(&g->fabric->lost, &g->fabric->lock);
		else if (pthread_cond_timedwait(&g->fabric->lost, &g->fabric->lock, &until) != 0)
			return;
	}
}

static void *rescuer_run(void *context)
{
	struct dxp_group *g = context;
	bool soon = true;

	host_fabric_enter(g->fabric);
	for (uint32_t seen = g->fabric->losses; !g->rescuer_stop;) {
		report_await(g, seen, soon);
		if (g->rescuer_stop)
			break;
		seen = g->fabric->losses;
		const bool rejoin = g->rescuer_rejoin;
		g->rescuer_rejoin = false;
		host_fabric_leave(g->fabric);
		if (rejoin)
			group_switch_rejoin(g);
		pthread_mutex_lock(&g->lock);
		soon = rescue(g);
		pthread_mutex_unlock(&g->lock);
		host_fabric_enter(g->fabric);
	}
	host_fabric_leave(g->fabric);
	return NULL;
}

int group_rescuer_start(struct dxp_group *g)
{
	sigset_t all, old;

	if (g->rescuer_started)
		return DXP_OK;
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&g->rescuer, NULL, rescuer_run, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	g->rescuer_started = error == 0;
	if (error)
		group_switch_refuse(g, "this program cannot start a thread; raise \"ulimit -u\"");
	return error ? DXP_ENOMEM : DXP_OK;
}

void group_rescuer_rejoin(struct dxp_group *g)
{
	if (group_rescuer_start(g) != DXP_OK)
		return;
	host_fabric_enter(g->fabric);
	g->rescuer_rejoin = true;
	pthread_cond_broadcast(&g->fabric->lost);
	host_fabric_leave(g->fabric);
}

void group_rescuer_stop(struct dxp_group *g)
{
	if (!g->rescuer_started)
		return;
	host_fabric_enter(g->fabric);
	g->rescuer_stop = true;
	pthread_cond_broadcast(&g->fabric->lost);
	host_fabric_ended(g->fabric); /* wakes its wait for replies */
	host_fabric_leave(g->fabric);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->rescuer, NULL);
	pthread_mutex_lock(&g->lock);
	g->rescuer_started = false;
}
