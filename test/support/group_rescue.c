/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated host of a group continues allreduces whose switches are lost, without them, as
 * src/host/group*.c does it. */
#include <dxp/status.h>

#include "collective/rescue.h"
#include "test/support/group_sim.h"

static void report_add(const struct gsim_host *h, struct rescue *r, uint32_t member, uint64_t end)
{
	const struct host_event *entry = gsim_event_find(h, end);

	if (!entry || (entry->state == HOST_EVENT_DONE && entry->status == DXP_OK))
		rescue_add(r, member, RESCUE_COMPLETE, DXP_OK, 0);
	else if (entry->state == HOST_EVENT_DONE)
		rescue_add(r, member, RESCUE_FAILED, entry->status, 0);
	else if (!entry->lost)
		rescue_add(r, member, RESCUE_PENDING, DXP_OK, 0);
	else
		rescue_add(r, member, RESCUE_LOST, entry->status, entry->done_bytes);
}

static int settle(struct gsim_host *h, uint32_t member, uint64_t command, uint64_t end, int status)
{
	struct command c = {.op = COMMAND_SETTLE, .settles = command};
	const struct host_event *entry = end ? gsim_event_find(h, end) : NULL;
	uint64_t event;

	if (h->knows_lost[member])
		return DXP_EPEERLOST;
	if (entry && entry->state == HOST_EVENT_DONE && entry->status != DXP_OK)
		status = DXP_ECANCELED;
	c.status = status;
	const bool waits = entry && entry->state != HOST_EVENT_DONE;
	status = gsim_command_start(h, member, &c, &end, waits ? 1 : 0, &event);
	if (status == DXP_OK)
		events_forget(&h->events[member], EVENT_COUNT(event));
	return status;
}

static int rest_post(struct gsim_host *h, struct gsim_operation *o, uint64_t done_bytes,
		     uint64_t ends[GSIM_MEMBERS])
{
	struct plan_request r = o->request;
	struct plan plan;

	if (h->sim->options.defect == GSIM_REST_SHORT)
		done_bytes += r.element_bytes;
	o->done_bytes = done_bytes;
	r.count -= done_bytes / r.element_bytes;
	r.way = DXP_WAY_AUTO;
	r.guarded = h->guarded;
	int status = plan_make(&r, &plan);
	if (status == DXP_OK)
		status = gsim_post(h, o, &plan, true, ends);
	plan_free(&plan);
	return status;
}

static int lost_continue(struct gsim_host *h, struct gsim_operation *o, const struct rescue *r,
			 enum rescue_step step)
{
	uint64_t ends[GSIM_MEMBERS] = {0};
	int status = DXP_OK;

	if (step == RESCUE_CANCEL)
		return DXP_ECANCELED;
	if (step == RESCUE_DIFFER) {
		gsim_wrong(h->sim, "operation %u: members report different parts of the result",
			   o->number);
		return DXP_EPEERLOST;
	}
	if (step == RESCUE_REST)
		status = rest_post(h, o, r->done_bytes, ends);
	for (uint32_t m = 0; m < h->sim->options.members && status == DXP_OK; m++)
		status = settle(h, m, o->ends[m], ends[m], DXP_OK);
	h->continued += status == DXP_OK;
	return status;
}

/* Returns false if the operation must be looked at again later. */
static bool operation_look(struct gsim_host *h, struct gsim_operation *o)
{
	const uint64_t bytes = o->request.count * o->request.element_bytes;
	struct rescue r = {0};

	for (uint32_t m = 0; m < h->sim->options.members; m++)
		report_add(h, &r, m, o->ends[m]);
	if (h->sim->options.defect == GSIM_RESCUE_EARLY && r.lost)
		r.pending = 0;
	const enum rescue_step step = rescue_decide(&r, bytes);
	if (step == RESCUE_NOTHING)
		return true;
	h->suspended = true;
	if (step == RESCUE_AWAIT)
		return false;
	const int status = lost_continue(h, o, &r, step);
	for (uint32_t m = 0; m < h->sim->options.members && status != DXP_OK; m++)
		if (r.is_lost[m])
			(void)settle(h, m, o->ends[m], 0, status);
	o->through = false;
	return true;
}

void gsim_rescue(struct gsim_host *h)
{
	for (struct gsim_operation *o = h->first; o; o = o->next)
		if (o->through && !operation_look(h, o))
			return;
}
