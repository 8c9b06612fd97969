/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes a group's operations: finds those that are complete, and names the member whose command
 * failed. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collective/cause.h"
#include "host/group.h"
#include "host/internal.h"

/* Returns true if the event is complete; *status is its result. An unknown event counts as
 * complete. Caller holds the fabric's lock. */
static bool event_ended(struct dxp_fabric *f, dxp_event event, int *status)
{
	struct host_event *entry;
	struct dxp_xpu *x;

	*status = DXP_OK;
	if (!event || !events_of(f, event, &x, &entry))
		return true;
	*status = entry->status;
	return entry->state == HOST_EVENT_DONE;
}

struct ending {
	struct dxp_group *g;
	bool failed;  /* true: one of the last events has failed */
	bool pending; /* true: one of the last events is pending */
};

static void ends_look(struct ending *e)
{
	const struct group_operation *o = e->g->first;

	e->failed = e->pending = false;
	for (uint32_t m = 0; m < e->g->members; m++) {
		int status;
		if (!event_ended(e->g->fabric, o->ends[m], &status))
			e->pending = true;
		else if (status != DXP_OK)
			e->failed = true;
	}
}

static bool first_ended(void *context)
{
	struct ending *e = context;

	ends_look(e);
	return e->failed || !e->pending;
}

/* Returns true if all commands of the oldest operation are complete. */
static bool first_settled(void *context)
{
	const struct ending *e = context;
	const struct group_operation *o = e->g->first;
	int status;

	for (uint32_t i = 0; i < o->event_count; i++)
		if (!event_ended(e->g->fabric, o->events[i].event, &status))
			return false;
	return true;
}

/* Returns the command of the oldest operation that made it fail; NULL: there is none. Caller holds
 * the fabric's lock. */
static const struct group_event *cause_find(const struct dxp_group *g, int *status,
					    const char **sentence)
{
	const struct group_operation *o = g->first;
	struct cause c = {.found = false};
	bool final = false;

	for (uint32_t i = 0; i < o->event_count && !final; i++) {
		const struct group_event *e = &o->events[i];
		int found;
		if (event_ended(g->fabric, e->event, &found))
			final = cause_look(&c, i, found,
					   failure_find(g->xpus[e->member], e->event) != NULL);
	}
	if (!c.found)
		return NULL;
	const struct group_event *e = &o->events[c.index];
	*status = c.status;
	*sentence = failure_find(g->xpus[e->member], e->event);
	return e;
}

/* Sets the error text for the failure of the oldest operation, and returns its status. Caller holds
 * the fabric's lock. */
static int failure_name(struct dxp_group *g)
{
	const enum plan_operation operation = g->first->operation;
	const char *sentence = NULL;
	int status = DXP_ECANCELED;

	for (uint32_t m = 0; m < g->members; m++)
		if (g->xpus[m]->status != DXP_OK) {
			error_xpu(g->xpus[m], g->xpus[m]->status, "lost");
			return group_blame(g, operation, m, g->xpus[m]->status);
		}
	const struct group_event *cause = cause_find(g, &status, &sentence);
	if (!cause)
		return error_set(status, "%s: an event of its wait lists has failed",
				 group_text(operation));
	if (sentence)
		error_set(status, "%s", sentence);
	else if (cause->peer != cause->member)
		error_set(status, "PUT to member %u (xPU '%s'): %s; is a buffer freed?",
			  cause->peer, g->xpus[cause->peer]->caps.name, dxp_status_text(status));
	else
		error_set(status, "%s; is a buffer freed?", dxp_status_text(status));
	return group_blame(g, operation, cause->member, status);
}

/* Returns true if a command waited for a node that was lost, but this host does not know yet which
 * node. A later node table shows it. A group that is lost, for example with its switches, has its
 * cause already. */
static bool first_unexplained(const struct dxp_group *g)
{
	const char *sentence = NULL;
	int status;

	if (g->status != DXP_OK)
		return false;
	for (uint32_t m = 0; m < g->members; m++)
		if (g->xpus[m]->status != DXP_OK)
			return false;
	const struct group_event *cause = cause_find(g, &status, &sentence);
	return cause && status == DXP_EPEERLOST && cause->peer == cause->member;
}

static bool first_explained(void *context)
{
	const struct ending *e = context;

	return first_settled(context) && !first_unexplained(e->g);
}

/* Waits until all commands of a failed operation are complete, so that the cause is known. Then the
 * group becomes lost. Caller holds the fabric's lock, which is released meanwhile. */
static void first_failed(struct dxp_group *g)
{
	const uint64_t end_ns = clock_now_ns() + HOST_GROUP_END_NS;
	struct ending e = {.g = g};
	int status;

	do {
		/* Lost allreduces of the other members complete only by group_rescue(). */
		host_fabric_leave(g->fabric);
		group_rescue(g);
		host_fabric_enter(g->fabric);
		status = host_fabric_wait(g->fabric, first_explained, &e,
					  min_u64(end_ns, clock_now_ns() + HOST_GROUP_LOOK_NS));
	} while (status != DXP_OK && clock_now_ns() < end_ns);
	status = failure_name(g);
	if (g->first->by_switches)
		group_switch_refuse(g, error_text());
	group_lose(g, status);
}

static void operation_free(struct dxp_group *g, struct group_operation *o)
{
	for (uint32_t i = 0; i < o->event_count; i++)
		dxp_event_forget(g->fabric, o->events[i].event);
	free(o->call);
	free(o->events);
	free(o);
}

static void first_free(struct dxp_group *g)
{
	struct group_operation *o = g->first;

	g->first = o->next;
	if (!g->first) {
		g->end = &g->first;
		memset(g->ends, 0, sizeof(g->ends));
		g->guarded = false;
		group_scratch_free(g, false, true);
	}
	operation_free(g, o);
}

void group_forget(struct dxp_group *g)
{
	while (g->first) {
		struct group_operation *o = g->first;
		g->first = o->next;
		operation_free(g, o);
	}
}

/* Waits until the oldest operation is complete or has failed. DXP_OK or DXP_ETIMEDOUT. */
static int first_wait(struct dxp_group *g, uint64_t deadline_ns)
{
	struct ending e = {.g = g};
	int status = DXP_OK;

	host_fabric_enter(g->fabric);
	if (!first_ended(&e)) {
		for (uint32_t m = 0; m < g->members; m++) {
			struct host_event *entry;
			struct dxp_xpu *x;
			if (events_of(g->fabric, g->first->ends[m], &x, &entry) && x &&
			    entry->state == HOST_EVENT_PENDING && entry->lazy)
				event_hurry(x, EVENT_COUNT(g->first->ends[m]));
		}
		status = host_fabric_wait(g->fabric, first_ended, &e, deadline_ns);
	}
	if (status == DXP_OK && e.failed)
		first_failed(g);
	host_fabric_leave(g->fabric);
	return status;
}

static bool first_is_over(struct dxp_group *g)
{
	struct ending e = {.g = g};

	host_fabric_enter(g->fabric);
	bool over = first_ended(&e);
	if (over && e.failed)
		first_failed(g);
	host_fabric_leave(g->fabric);
	return over;
}

void group_retire(struct dxp_group *g)
{
	while (g->first && g->status == DXP_OK && first_is_over(g) && g->status == DXP_OK)
		first_free(g);
}

int group_drain(struct dxp_group *g, uint64_t deadline_ns)
{
	while (g->first) {
		const uint64_t now_ns = clock_now_ns();
		group_rescue(g);
		int status = first_wait(g, min_u64(deadline_ns, now_ns + HOST_GROUP_LOOK_NS));
		if (status == DXP_OK)
			first_free(g);
		else if (now_ns >= deadline_ns || g->status != DXP_OK)
			return status;
		pthread_mutex_unlock(&g->lock);
		pthread_mutex_lock(&g->lock);
	}
	return DXP_OK;
}
