/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts the steps of a plan as commands of the members' xPUs. Commands in the middle of a plan are
 * lazy: their nodes notify each other at once, but this host only later. */
#include <stdlib.h>
#include <string.h>

#include "collective/limits.h"
#include "host/group.h"
#include "host/internal.h"
#include "wire/reduction.h"

#define LOCAL_SIZE \
	64 /* work-items per work-group; every device can run 64, and one size needs one build */

struct post {
	struct dxp_group *g;
	const struct plan *plan;
	const struct dxp_collective *c;
	struct group_operation *o;
	dxp_event *names; /* event of each step; 0: the step is complete */
	bool *own;        /* true: the step has an event of its own */
	dxp_event *waits; /* events that the current step waits for */
	uint32_t wait_count;
	bool more; /* true: continues an operation whose members have all begun */
};

static uint64_t address_of(const struct post *p, uint32_t member, const struct plan_place *place)
{
	switch (place->space) {
	case PLAN_FROM: return p->c->parts[member].from + place->offset;
	case PLAN_TO: return p->c->parts[member].to + place->offset;
	default: return p->g->scratch->address[member] + place->offset;
	}
}

static void wait_add(struct post *p, dxp_event event)
{
	if (event)
		p->waits[p->wait_count++] = event;
}

/* Collects the events that a step waits for. The first mark of a member also waits for the events
 * that the program listed for this member. */
static void waits_collect(struct post *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];

	p->wait_count = 0;
	for (uint32_t i = 0; i < s->wait_count; i++)
		wait_add(p, p->names[p->plan->waits[s->first_wait + i]]);
	if (index >= p->plan->members || p->more)
		return;
	wait_add(p, p->g->ends[index]);
	for (uint32_t i = 0; p->c->parts && i < p->c->parts[index].wait_count; i++)
		wait_add(p, p->c->parts[index].wait[i]);
}

static int copy_post(struct post *p, const struct plan_step *s, uint64_t to, dxp_event *event)
{
	const struct dxp_waits waits = {p->waits, p->wait_count, true, false};
	const struct dxp_rect line = {.row_bytes = s->bytes, .rows = 1, .slices = 1};

	return dxp_copy(p->g->xpus[s->member], address_of(p, s->member, &s->from), to, &line,
			&waits, event);
}

static int send_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const struct dxp_transfer t = {.from_address = address_of(p, s->member, &s->from),
				       .to_address = address_of(p, s->peer, &s->to),
				       .bytes = s->bytes,
				       .wait = p->waits,
				       .wait_count = p->wait_count,
				       .lazy = true};

	if (p->g->xpus[s->member] == p->g->xpus[s->peer])
		return copy_post(p, s, t.to_address, event);
	return dxp_send(p->g->xpus[s->member], p->g->xpus[s->peer], &t, event);
}

static struct dxp_argument value(const void *data, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, data, bytes);
	return a;
}

/* Returns the aligned address before `address`. Sets *first to the number of elements between. */
static struct dxp_argument buffer(uint64_t address, uint64_t element_bytes, uint64_t *first)
{
	const uint64_t rest = address % COLLECTIVE_KERNEL_ALIGN;

	*first = rest / element_bytes;
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address - rest};
}

static int combine_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const uint64_t element_bytes = dxp_type_bytes(p->c->type);
	const uint64_t count = s->bytes / element_bytes, stride = s->input_pitch / element_bytes;
	const uint32_t divisor = s->divide ? p->g->members : 1;
	uint64_t own, inputs, result;
	const struct dxp_argument buffers[] = {
		buffer(address_of(p, s->member, &s->from), element_bytes, &own),
		buffer(address_of(p, s->member, &s->inputs), element_bytes, &inputs),
		buffer(address_of(p, s->member, &s->to), element_bytes, &result),
	};
	const struct dxp_argument arguments[] = {
		buffers[0],
		buffers[1],
		buffers[2],
		value(&count, sizeof(count)),
		value(&stride, sizeof(stride)),
		value(&s->input_count, sizeof(s->input_count)),
		value(&divisor, sizeof(divisor)),
		value(&own, sizeof(own)),
		value(&inputs, sizeof(inputs)),
		value(&result, sizeof(result)),
	};
	const struct dxp_launch launch = {
		.program = p->g->programs[p->c->type][p->c->reduction][s->member],
		.kernel = "combine",
		.dimensions = 1,
		.global = {(count + LOCAL_SIZE - 1) / LOCAL_SIZE * LOCAL_SIZE},
		.local = {LOCAL_SIZE},
		.arguments = arguments,
		.argument_count = ARRAY_COUNT(arguments),
		.wait = p->waits,
		.wait_count = p->wait_count,
		.lazy = true};

	return dxp_run(p->g->xpus[s->member], &launch, event);
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
	int status = host_command_start_after(x, &c, p->waits, p->wait_count, event);
	host_fabric_leave(x->fabric);
	return status;
}

static bool is_end(const struct plan *plan, uint32_t index)
{
	for (uint32_t m = 0; m < plan->members; m++)
		if (plan->ends[m] == index)
			return true;
	return false;
}

/* Returns true if a mark needs no command, because it waits for at most one event, which can
 * replace it. The last event of a member must belong to this operation. */
static bool mark_is_redundant(const struct post *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];

	if (p->wait_count > 1 || (p->wait_count == 0 && is_end(p->plan, index)))
		return false;
	return !is_end(p->plan, index) || (index >= p->plan->members && s->wait_count == 1 &&
					   p->own[p->plan->waits[s->first_wait]]);
}

static int mark_post(struct post *p, const struct plan_step *s, dxp_event *event)
{
	const struct dxp_waits waits = {p->waits, p->wait_count, true, false};

	return dxp_mark(p->g->xpus[s->member], &waits, event);
}

static int step_post(struct post *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];
	dxp_event event = 0;
	int status;

	waits_collect(p, index);
	if (s->kind == PLAN_MARK && mark_is_redundant(p, index)) {
		p->names[index] = p->wait_count ? p->waits[0] : 0;
		return DXP_OK;
	}
	switch (s->kind) {
	case PLAN_SEND: status = send_post(p, s, &event); break;
	case PLAN_COPY: status = copy_post(p, s, address_of(p, s->member, &s->to), &event); break;
	case PLAN_COMBINE: status = combine_post(p, s, &event); break;
	case PLAN_THROUGH: status = through_post(p, s, &event); break;
	default: status = mark_post(p, s, &event); break;
	}
	if (status != DXP_OK)
		return group_blame(p->g, p->o->operation, s->member, status);
	p->names[index] = event;
	p->own[index] = true;
	p->o->events[p->o->event_count++] =
		(struct group_event){event, s->member, s->kind == PLAN_SEND ? s->peer : s->member};
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
		p->o->ends[m] = p->names[p->plan->ends[m]];
	if (status == DXP_OK)
		status = events_give(p);
	*p->g->end = p->o;
	p->g->end = &p->o->next;
	if (status != DXP_OK)
		return group_lose(p->g, status);
	memcpy(p->g->ends, p->o->ends, sizeof(p->g->ends));
	return DXP_OK;
}

/* Returns the length of the longest wait list of any step. */
static uint32_t waits_most(const struct plan *plan, const struct dxp_collective *c)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < plan->step_count; i++)
		most = max_u32(most, plan->steps[i].wait_count);
	for (uint32_t m = 0; c->parts && m < plan->members; m++)
		most = max_u32(most, c->parts[m].wait_count + 1);
	return most + 1;
}

static bool post_allocate(struct post *p)
{
	p->names = calloc(p->plan->step_count, sizeof(*p->names));
	p->own = calloc(p->plan->step_count, sizeof(*p->own));
	p->waits = calloc(waits_most(p->plan, p->c), sizeof(*p->waits));
	return p->names && p->own && p->waits;
}

static void post_free(struct post *p)
{
	free(p->names);
	free(p->own);
	free(p->waits);
}

int group_post(struct dxp_group *g, enum plan_operation operation, const struct plan *plan,
	       const struct dxp_collective *c, struct group_call *call)
{
	struct post p = {.g = g, .plan = plan, .c = c, .o = calloc(1, sizeof(*p.o))};
	int status = DXP_ENOMEM;

	if (p.o) {
		p.o->operation = operation;
		p.o->events = calloc(plan->step_count, sizeof(*p.o->events));
	}
	if (p.o && p.o->events && post_allocate(&p)) {
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
	post_free(&p);
	return status;
}

int group_post_more(struct dxp_group *g, struct group_operation *o, const struct plan *plan,
		    const struct dxp_collective *c, dxp_event ends[DXP_GROUP_MEMBERS_MAX])
{
	struct post p = {.g = g, .plan = plan, .c = c, .o = o, .more = true};
	struct group_event *events =
		realloc(o->events, ((size_t)o->event_count + plan->step_count) * sizeof(*events));
	int status = DXP_ENOMEM;

	if (events)
		o->events = events;
	if (events && post_allocate(&p))
		status = steps_post(&p);
	else
		error_set(status, "out of memory");
	for (uint32_t m = 0; m < g->members && status == DXP_OK; m++)
		ends[m] = p.names[plan->ends[m]];
	post_free(&p);
	return status;
}
