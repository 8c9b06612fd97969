/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts the steps of a plan as commands of the members' xPUs. Commands in the middle of a plan are
 * lazy: their nodes notify each other at once, but this host only later. */
#include <stdlib.h>
#include <string.h>

#include "collective/posting.h"
#include "host/combine.h"
#include "host/group.h"
#include "host/internal.h"
#include "wire/reduction.h"

struct post {
	struct dxp_group *g;
	const struct plan *plan;
	const struct dxp_collective *c;
	struct group_operation *o;
	struct posting steps;
};

static uint64_t address_of(const struct post *p, uint32_t member, const struct plan_place *place)
{
	switch (place->space) {
	case PLAN_FROM: return p->c->parts[member].from + place->offset;
	case PLAN_TO: return p->c->parts[member].to + place->offset;
	default: return p->g->scratch->address[member] + place->offset;
	}
}

/* Collects the events that a step waits for. The first mark of a member also waits for the events
 * that the program listed for this member. */
static void waits_collect(struct post *p, uint32_t index)
{
	if (!posting_collect(&p->steps, index))
		return;
	posting_wait(&p->steps, p->g->ends[index]);
	for (uint32_t i = 0; p->c->parts && i < p->c->parts[index].wait_count; i++)
		posting_wait(&p->steps, p->c->parts[index].wait[i]);
}

static int copy_post(struct post *p, const struct plan_step *s, uint64_t to, dxp_event *event)
{
	const struct dxp_waits waits = {p->steps.waits, p->steps.wait_count, true, false};
	const struct dxp_rect line = {.row_bytes = s->bytes, .rows = 1, .slices = 1};

	return dxp_copy(p->g->xpus[s->member], address_of(p, s->member, &s->from), to, &line,
			&waits, event);
}

static int send_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const struct dxp_transfer t = {.from_address = address_of(p, s->member, &s->from),
				       .to_address = address_of(p, s->peer, &s->to),
				       .bytes = s->bytes,
				       .wait = p->steps.waits,
				       .wait_count = p->steps.wait_count,
				       .lazy = true};

	if (p->g->xpus[s->member] == p->g->xpus[s->peer])
		return copy_post(p, s, t.to_address, event);
	return dxp_send(p->g->xpus[s->member], p->g->xpus[s->peer], &t, event);
}

static int combine_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const struct combine c = {
		.program = p->g->programs[p->c->type][p->c->reduction][s->member],
		.element_bytes = (uint32_t)dxp_type_bytes(p->c->type),
		.own = address_of(p, s->member, &s->from),
		.inputs = address_of(p, s->member, &s->inputs),
		.result = address_of(p, s->member, &s->to),
		.bytes = s->bytes,
		.input_pitch = s->input_pitch,
		.input_count = s->input_count,
		.divisor = s->divide ? p->g->members : 1,
	};

	return combine_start(p->g->xpus[s->member], &c, p->steps.waits, p->steps.wait_count, event);
}

static int through_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	struct dxp_xpu *x = p->g->xpus[s->member];
	struct command c;

	command_begin(&c, COMMAND_ALLREDUCE);
	c.group = p->g->switch_number;
	c.type = (uint8_t)reduction_type(p->c->type);
	c.reduction = (uint8_t)reduction_op(p->c->reduction);
	c.address = address_of(p, s->member, &s->from);
	c.to_address = address_of(p, s->member, &s->to);
	c.bytes = s->bytes;
	c.lazy = true;
	host_fabric_enter(x->fabric);
	int status = host_command_start_after(x, &c, p->steps.waits, p->steps.wait_count, event);
	host_fabric_leave(x->fabric);
	return status;
}

static int mark_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const struct dxp_waits waits = {p->steps.waits, p->steps.wait_count, true, false};

	return dxp_mark(p->g->xpus[s->member], &waits, event);
}

static void event_keep(struct post *p, dxp_event event, uint32_t member, uint32_t peer)
{
	p->o->events[p->o->event_count++] = (struct group_event){event, member, peer};
}

/* Lets marks of the operation wait for events that are too many for one command. Marks that the
 * library adds itself have no events here, so a failure in their wait lists would have no cause. */
static int waits_fold(struct post *p, uint32_t member)
{
	while (p->steps.wait_count > COMMAND_WAITS_MAX) {
		const struct dxp_waits waits = {p->steps.waits, COMMAND_WAITS_MAX, true, false};
		dxp_event event;
		int status = dxp_mark(p->g->xpus[member], &waits, &event);
		if (status != DXP_OK)
			return status;
		event_keep(p, event, member, member);
		posting_fold(&p->steps, COMMAND_WAITS_MAX, event);
	}
	return DXP_OK;
}

static int step_post(struct post *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];
	dxp_event event = 0;

	waits_collect(p, index);
	if (posting_merge(&p->steps, index))
		return DXP_OK;
	int status = waits_fold(p, s->member);
	if (status != DXP_OK)
		return group_blame(p->g, p->o->operation, s->member, status);
	switch (s->kind) {
	case PLAN_SEND: status = send_post(p, s, &event); break;
	case PLAN_COPY: status = copy_post(p, s, address_of(p, s->member, &s->to), &event); break;
	case PLAN_COMBINE: status = combine_post(p, s, &event); break;
	case PLAN_THROUGH: status = through_post(p, s, &event); break;
	default: status = mark_post(p, s, &event); break;
	}
	if (status != DXP_OK)
		return group_blame(p->g, p->o->operation, s->member, status);
	posting_name(&p->steps, index, event);
	event_keep(p, event, s->member, s->kind == PLAN_SEND ? s->peer : s->member);
	return DXP_OK;
}

/* Creates events for the program, which it may release at any time. The group keeps its own
 * events. */
static int events_give(struct post *p)
{
	int status = DXP_OK;

	for (uint32_t m = 0; p->c->events && m < p->g->members && status == DXP_OK; m++) {
		const struct dxp_waits waits = {&p->o->ends[m], 1, false, false};
		status = dxp_mark(p->g->xpus[m], &waits, &p->c->events[m]);
		if (status != DXP_OK)
			group_blame(p->g, p->o->operation, m, status);
	}
	return status;
}

static int steps_post(struct post *p)
{
	int status = DXP_OK;

	for (uint32_t i = 0; i < p->plan->step_count && status == DXP_OK; i++)
		status = step_post(p, i);
	return status;
}

static int operation_post(struct post *p)
{
	int status = steps_post(p);

	for (uint32_t m = 0; m < p->g->members && status == DXP_OK; m++)
		p->o->ends[m] = posting_last(&p->steps, m);
	if (status == DXP_OK)
		status = events_give(p);
	*p->g->end = p->o;
	p->g->end = &p->o->next;
	if (status != DXP_OK)
		return group_lose(p->g, status);
	memcpy(p->g->ends, p->o->ends, sizeof(p->g->ends));
	return DXP_OK;
}

/* Returns the most events that a member's first mark waits for, besides those of the plan. */
static uint32_t waits_most(const struct plan *plan, const struct dxp_collective *c)
{
	uint32_t most = 0;

	for (uint32_t m = 0; c->parts && m < plan->members; m++)
		most = max_u32(most, c->parts[m].wait_count);
	return most + 1;
}

/* Returns the most events of an operation: of its steps, and of marks in waits_fold(). `added`:
 * events that each member's first mark waits for besides those of the plan. */
static size_t events_most(const struct plan *plan, uint32_t added)
{
	const size_t waits = plan->wait_count + (size_t)added * plan->members;

	return plan->step_count + waits / (COMMAND_WAITS_MAX - 1) + 1;
}

int group_post(struct dxp_group *g, enum plan_operation operation, const struct plan *plan,
	       const struct dxp_collective *c, struct group_call *call)
{
	struct post p = {.g = g, .plan = plan, .c = c, .o = calloc(1, sizeof(*p.o))};
	int status = DXP_ENOMEM;

	if (p.o) {
		p.o->operation = operation;
		p.o->events = calloc(events_most(plan, waits_most(plan, c)), sizeof(*p.o->events));
	}
	if (p.o && p.o->events)
		status = posting_begin(&p.steps, plan, waits_most(plan, c), false);
	if (status == DXP_OK) {
		p.o->call = call;
		p.o->by_switches = call != NULL;
		status = operation_post(&p);
	} else {
		error_set(status, "out of memory");
		if (p.o)
			free(p.o->events);
		free(p.o);
		free(call);
	}
	posting_end(&p.steps);
	return status;
}

int group_post_more(struct dxp_group *g, struct group_operation *o, const struct plan *plan,
		    const struct dxp_collective *c, dxp_event ends[DXP_GROUP_MEMBERS_MAX])
{
	struct post p = {.g = g, .plan = plan, .c = c, .o = o};
	struct group_event *events =
		realloc(o->events, (o->event_count + events_most(plan, 0)) * sizeof(*events));
	int status = DXP_ENOMEM;

	if (events)
		o->events = events;
	if (events)
		status = posting_begin(&p.steps, plan, 0, true);
	if (status == DXP_OK)
		status = steps_post(&p);
	else
		error_set(status, "out of memory");
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++)
		ends[m] = posting_last(&p.steps, m);
	posting_end(&p.steps);
	return status;
}
