/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts the steps of a plan as commands, as src/host/group_post.c does. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "collective/limits.h"
#include "test/support/group_sim.h"
#include "wire/reduction.h"

struct post {
	struct gsim_host *h;
	struct gsim_operation *o;
	struct posting steps;
	uint64_t skip; /* bytes that switches have completed */
};

static uint64_t address_of(const struct post *p, uint32_t member, const struct plan_place *place)
{
	switch (place->space) {
	case PLAN_FROM: return gsim_from(p->o, member) + p->skip + place->offset;
	case PLAN_TO: return gsim_to(p->o, member) + p->skip + place->offset;
	default: return gsim_scratch() + place->offset;
	}
}

static int send_post(struct post *p, const struct plan_step *s, uint64_t *event)
{
	const struct gsim_options *o = &p->h->sim->options;
	const bool revoked =
		o->revoked_call && p->o->number >= o->revoked_call && s->peer == o->victim;
	struct command c = {.op = COMMAND_SEND,
			    .address = address_of(p, s->member, &s->from),
			    .to_address = address_of(p, s->peer, &s->to),
			    .bytes = s->bytes,
			    .to_node = gsim_member_id(s->peer),
			    .to_key = p->h->sim->nodes[s->peer].key ^ (revoked ? 1u << 20 : 0)};

	if (o->defect == GSIM_HALF_REUSED && s->to.space == PLAN_SCRATCH && p->steps.wait_count > 1)
		p->steps.wait_count--;
	return gsim_command_start(p->h, s->member, &c, p->steps.waits, p->steps.wait_count, event);
}

static int copy_post(struct post *p, const struct plan_step *s, uint64_t *event)
{
	struct command c = {.op = COMMAND_COPY,
			    .address = address_of(p, s->member, &s->from),
			    .to_address = address_of(p, s->member, &s->to),
			    .rect = {.row_bytes = s->bytes, .rows = 1, .slices = 1}};

	return gsim_command_start(p->h, s->member, &c, p->steps.waits, p->steps.wait_count, event);
}

static void value(struct command *c, const void *data, uint32_t bytes)
{
	c->arguments[c->argument_count++] =
		(struct command_argument){.kind = COMMAND_ARG_BYTES, .bytes = bytes, .value = data};
}

/* Adds the aligned address before `address`. Returns the number of elements between. */
static uint64_t buffer(struct command *c, uint64_t address, uint32_t element_bytes)
{
	const uint64_t rest = address % COLLECTIVE_KERNEL_ALIGN;

	c->arguments[c->argument_count++] =
		(struct command_argument){.kind = COMMAND_ARG_BUFFER, .address = address - rest};
	return rest / element_bytes;
}

/* Drops the event of the last input from the wait list. */
static void input_drop(struct post *p)
{
	if (p->h->sim->options.defect == GSIM_WAIT_DROPPED && p->steps.wait_count > 1)
		p->steps.wait_count--;
}

static int combine_post(struct post *p, const struct plan_step *s, uint64_t *event)
{
	const uint32_t size = p->o->request.element_bytes;
	const uint64_t count = s->bytes / size, stride = s->input_pitch / size;
	const uint32_t divisor = s->divide ? p->o->request.members : 1;
	struct command c = {.op = COMMAND_RUN,
			    .program = (uint32_t)p->o->type << 8 | p->o->reduction,
			    .text = "combine",
			    .dimensions = 1,
			    .global = {count, 1, 1}};
	const uint64_t own = buffer(&c, address_of(p, s->member, &s->from), size);
	const uint64_t inputs = buffer(&c, address_of(p, s->member, &s->inputs), size);
	const uint64_t result = buffer(&c, address_of(p, s->member, &s->to), size);

	value(&c, &count, sizeof(count));
	value(&c, &stride, sizeof(stride));
	value(&c, &s->input_count, sizeof(s->input_count));
	value(&c, &divisor, sizeof(divisor));
	value(&c, &own, sizeof(own));
	value(&c, &inputs, sizeof(inputs));
	value(&c, &result, sizeof(result));
	input_drop(p);
	return gsim_command_start(p->h, s->member, &c, p->steps.waits, p->steps.wait_count, event);
}

static int through_post(struct post *p, const struct plan_step *s, uint64_t *event)
{
	struct command c = {.op = COMMAND_ALLREDUCE,
			    .group = 1,
			    .type = (uint8_t)reduction_type(p->o->type),
			    .reduction = (uint8_t)reduction_op(p->o->reduction),
			    .address = address_of(p, s->member, &s->from),
			    .to_address = address_of(p, s->member, &s->to),
			    .bytes = s->bytes};

	return gsim_command_start(p->h, s->member, &c, p->steps.waits, p->steps.wait_count, event);
}

static int mark_post(struct post *p, const struct plan_step *s, uint64_t *event)
{
	struct command c = {.op = COMMAND_MARK};

	return gsim_command_start(p->h, s->member, &c, p->steps.waits, p->steps.wait_count, event);
}

static int event_keep(struct gsim_operation *o, uint64_t event, uint32_t member, uint32_t peer)
{
	if (o->event_count == o->event_space) {
		const uint32_t space = o->event_space ? 2 * o->event_space : 256;
		struct gsim_event *more = realloc(o->events, space * sizeof(*more));
		if (!more)
			return DXP_ENOMEM;
		o->events = more;
		o->event_space = space;
	}
	o->events[o->event_count++] = (struct gsim_event){event, member, peer};
	return DXP_OK;
}

static int waits_fold(struct post *p, uint32_t member)
{
	int status = DXP_OK;

	while (p->steps.wait_count > COMMAND_WAITS_MAX && status == DXP_OK) {
		struct command c = {.op = COMMAND_MARK};
		uint64_t event;
		status = gsim_command_start(p->h, member, &c, p->steps.waits, COMMAND_WAITS_MAX,
					    &event);
		if (status == DXP_OK)
			status = event_keep(p->o, event, member, member);
		if (status == DXP_OK)
			posting_fold(&p->steps, COMMAND_WAITS_MAX, event);
	}
	return status;
}

static int step_post(struct post *p, uint32_t index)
{
	const struct plan_step *s = &p->steps.plan->steps[index];
	uint64_t event = 0;

	if (posting_collect(&p->steps, index)) {
		posting_wait(&p->steps, p->h->ends[index]);
		if (p->h->sim->options.defect != GSIM_BEGIN_IGNORED)
			posting_wait(&p->steps, p->o->late[index]);
	}
	if (posting_merge(&p->steps, index))
		return DXP_OK;
	int status = waits_fold(p, s->member);
	if (status != DXP_OK)
		return status;
	switch (s->kind) {
	case PLAN_SEND: status = send_post(p, s, &event); break;
	case PLAN_COPY: status = copy_post(p, s, &event); break;
	case PLAN_COMBINE: status = combine_post(p, s, &event); break;
	case PLAN_THROUGH: status = through_post(p, s, &event); break;
	default: status = mark_post(p, s, &event);
	}
	if (status == DXP_OK)
		status = event_keep(p->o, event, s->member,
				    s->kind == PLAN_SEND ? s->peer : s->member);
	posting_name(&p->steps, index, event);
	return status;
}

int gsim_post(struct gsim_host *h, struct gsim_operation *o, const struct plan *plan, bool more,
	      uint64_t ends[GSIM_MEMBERS])
{
	struct post p = {.h = h, .o = o, .skip = more ? o->done_bytes : 0};
	int status = posting_begin(&p.steps, plan, 2, more);

	for (uint32_t i = 0; i < plan->step_count && status == DXP_OK; i++)
		status = step_post(&p, i);
	for (uint32_t m = 0; m < plan->members && status == DXP_OK; m++)
		ends[m] = posting_last(&p.steps, m);
	posting_end(&p.steps);
	return status;
}
