/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's part of a collective between xPUs of several processes. Commands wait on the xPU
 * for earlier commands of the same xPU; this process waits for notices of steps of other members
 * before it posts what depends on them. */
#include <stdlib.h>

#include <dxp/mpi.h>

#include "base/clock.h"
#include "collective/limits.h"
#include "collective/plan.h"
#include "host/combine.h"
#include "host/internal.h"
#include "host/mpi.h"

enum step_state { STEP_WAITING, STEP_POSTED, STEP_DONE };

struct step {
	enum step_state state;
	dxp_event event;
	uint64_t observers; /* bit m: a step of member m waits for this one */
};

struct notice_due {
	uint32_t member, step;
};

struct mpi_device_run {
	struct mpi_device_call call;
	struct dxp_program *program;
	struct plan plan;
	struct step *steps;
	dxp_event *waits;
	uint32_t first; /* all own steps before it are done */
	struct notice_due *notices;
	uint32_t notice_count, notice_next, notice_space;
	int status;
};

static bool is_own(const struct mpi_device_run *r, uint32_t step)
{
	return r->plan.steps[step].member == r->call.self;
}

static enum plan_operation plan_operation_of(enum mpi_device_operation operation)
{
	switch (operation) {
	case MPI_DEVICE_REDUCE: return PLAN_REDUCE;
	case MPI_DEVICE_BROADCAST: return PLAN_BROADCAST;
	default: return PLAN_ALLREDUCE;
	}
}

/* ---- begin ---- */

static int plan_prepare(struct mpi_device_run *r)
{
	const struct mpi_device_call *c = &r->call;
	const struct plan_request request = {.operation = plan_operation_of(c->operation),
					     .members = c->members,
					     .root = c->root,
					     .count = c->count,
					     .element_bytes = (uint32_t)dxp_type_bytes(c->type),
					     .scratch_bytes = COLLECTIVE_SCRATCH,
					     .in_place = c->in_place,
					     .average = c->reduction == DXP_AVERAGE};

	return plan_make(&request, &r->plan);
}

/* Notes which members wait for each step, and allocates notices for all of them. */
static int observers_note(struct mpi_device_run *r)
{
	uint32_t most = 0, notices = 0;

	for (uint32_t i = 0; i < r->plan.step_count; i++) {
		const struct plan_step *s = &r->plan.steps[i];
		most = max_u32(most, s->wait_count);
		for (uint32_t k = 0; k < s->wait_count; k++) {
			const uint32_t before = r->plan.waits[s->first_wait + k];
			const uint64_t bit = 1ull << s->member;
			if (r->plan.steps[before].member == s->member ||
			    r->steps[before].observers & bit)
				continue;
			r->steps[before].observers |= bit;
			notices += is_own(r, before);
		}
	}
	r->waits = calloc(most + 1, sizeof(*r->waits));
	r->notices = calloc(notices + 1, sizeof(*r->notices));
	r->notice_space = notices;
	return r->waits && r->notices ? DXP_OK : DXP_ENOMEM;
}

static int call_check(const struct mpi_device_call *c)
{
	if (c->members < 2 || c->members > DXP_GROUP_MEMBERS_MAX)
		return error_set(DXP_EINVAL, "%u ranks; device memory needs 2 to %d", c->members,
				 DXP_GROUP_MEMBERS_MAX);
	for (uint32_t m = 0; m < c->members; m++)
		for (uint32_t k = 0; k < m; k++)
			if (c->all[m].node == c->all[k].node)
				return error_set(DXP_EINVAL,
						 "ranks %u and %u use the same xPU (node %u); give "
						 "each rank an own xPU",
						 k, m, c->all[m].node);
	return DXP_OK;
}

static void run_free(struct mpi_device_run *r)
{
	plan_free(&r->plan);
	free(r->steps);
	free(r->waits);
	free(r->notices);
	free(r);
}

static int run_begin(const struct mpi_device_call *call, struct mpi_device_run **out)
{
	int status = call_check(call);
	struct mpi_device_run *r = status == DXP_OK ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return status == DXP_OK ? error_set(DXP_ENOMEM, "out of memory") : status;
	r->call = *call;
	status = plan_prepare(r);
	r->steps = calloc(r->plan.step_count + 1, sizeof(*r->steps));
	if (status == DXP_OK)
		status = r->steps ? observers_note(r) : DXP_ENOMEM;
	if (status != DXP_OK)
		error_set(status, "out of memory for the steps of %llu elements",
			  (unsigned long long)call->count);
	else if (call->operation != MPI_DEVICE_BROADCAST)
		status = mpi_xpu_program(call->xpu, call->type, call->reduction, &r->program);
	if (status == DXP_OK)
		*out = r;
	else
		run_free(r);
	return status;
}

/* ---- steps ---- */

static uint64_t address_of(const struct mpi_device_run *r, uint32_t member,
			   const struct plan_place *place)
{
	const struct mpi_device_member *m = &r->call.all[member];

	return place->offset + (place->space == PLAN_FROM ? m->from
				: place->space == PLAN_TO ? m->to
							  : m->scratch);
}

static int send_post(const struct mpi_device_run *r, const struct plan_step *s, uint32_t wait_count,
		     dxp_event *event)
{
	struct dxp_xpu *x = r->call.xpu;
	struct command c;

	command_begin(&c, COMMAND_SEND);
	c.address = address_of(r, s->member, &s->from);
	c.bytes = s->bytes;
	c.to_node = r->call.all[s->peer].node;
	c.to_key = r->call.all[s->peer].key;
	c.to_address = address_of(r, s->peer, &s->to);
	host_fabric_enter(x->fabric);
	int status = host_command_start_after(x, &c, r->waits, wait_count, event);
	host_fabric_leave(x->fabric);
	return status;
}

static int copy_post(const struct mpi_device_run *r, const struct plan_step *s, uint32_t wait_count,
		     dxp_event *event)
{
	const struct dxp_waits waits = {r->waits, wait_count, true, false};
	const struct dxp_rect line = {.row_bytes = s->bytes, .rows = 1, .slices = 1};

	return dxp_copy(r->call.xpu, address_of(r, s->member, &s->from),
			address_of(r, s->member, &s->to), &line, &waits, event);
}

static int combine_post(const struct mpi_device_run *r, const struct plan_step *s,
			uint32_t wait_count, dxp_event *event)
{
	const struct combine c = {.program = r->program,
				  .element_bytes = (uint32_t)dxp_type_bytes(r->call.type),
				  .own = address_of(r, s->member, &s->from),
				  .inputs = address_of(r, s->member, &s->inputs),
				  .result = address_of(r, s->member, &s->to),
				  .bytes = s->bytes,
				  .input_pitch = s->input_pitch,
				  .input_count = s->input_count,
				  .divisor = s->divide ? r->call.members : 1};

	return combine_start(r->call.xpu, &c, r->waits, wait_count, event);
}

static int step_post(struct mpi_device_run *r, uint32_t index, uint32_t wait_count)
{
	const struct plan_step *s = &r->plan.steps[index];
	struct step *t = &r->steps[index];
	int status;

	switch (s->kind) {
	case PLAN_SEND: status = send_post(r, s, wait_count, &t->event); break;
	case PLAN_COPY: status = copy_post(r, s, wait_count, &t->event); break;
	default: status = combine_post(r, s, wait_count, &t->event);
	}
	if (status == DXP_OK)
		t->state = STEP_POSTED;
	/* DXP_EAGAIN of a run means that it is under way. Here, commands fill the xPU's space, and
	 * wait for events that perhaps only this thread can set. */
	return status == DXP_EAGAIN ? DXP_EBUSY : status;
}

static void step_done(struct mpi_device_run *r, uint32_t index)
{
	struct step *t = &r->steps[index];

	t->state = STEP_DONE;
	for (uint32_t m = 0; m < r->call.members; m++)
		if (t->observers >> m & 1)
			r->notices[r->notice_count++] = (struct notice_due){m, index};
}

/* Collects the events of a step's waits. False: it must wait for another member, or for a step
 * without an event. */
static bool waits_collect(struct mpi_device_run *r, uint32_t index, uint32_t *count)
{
	const struct plan_step *s = &r->plan.steps[index];

	*count = 0;
	for (uint32_t i = 0; i < s->wait_count; i++) {
		const uint32_t before = r->plan.waits[s->first_wait + i];
		const struct step *t = &r->steps[before];
		if (t->state == STEP_DONE)
			continue;
		if (t->state == STEP_WAITING || !is_own(r, before) || s->kind == PLAN_MARK)
			return false;
		r->waits[(*count)++] = t->event;
	}
	return true;
}

static int step_advance(struct mpi_device_run *r, uint32_t index)
{
	struct step *t = &r->steps[index];
	uint32_t waits;

	if (t->state == STEP_WAITING && waits_collect(r, index, &waits)) {
		if (r->plan.steps[index].kind == PLAN_MARK) {
			step_done(r, index);
			return DXP_OK;
		}
		return step_post(r, index, waits);
	}
	if (t->state != STEP_POSTED)
		return DXP_OK;
	int status = dxp_event_done(r->call.xpu->fabric, t->event);
	if (status <= 0)
		return status;
	status = dxp_event_wait(r->call.xpu->fabric, t->event, 0, NULL);
	if (status == DXP_OK)
		step_done(r, index);
	t->event = 0;
	return status;
}

static int run_advance(struct mpi_device_run *r)
{
	bool all = true;

	for (uint32_t i = r->first; i < r->plan.step_count && r->status == DXP_OK; i++) {
		if (is_own(r, i) && r->steps[i].state != STEP_DONE)
			r->status = step_advance(r, i);
		all &= !is_own(r, i) || r->steps[i].state == STEP_DONE;
		if (all)
			r->first = i + 1;
	}
	if (r->status != DXP_OK)
		return r->status;
	return all ? DXP_OK : DXP_EAGAIN;
}

/* ---- notices ---- */

static bool run_notice(struct mpi_device_run *r, uint32_t *member, uint32_t *step)
{
	if (r->notice_next == r->notice_count)
		return false;
	*member = r->notices[r->notice_next].member;
	*step = r->notices[r->notice_next++].step;
	return true;
}

static int run_notified(struct mpi_device_run *r, uint32_t member, uint32_t step)
{
	if (step >= r->plan.step_count || r->plan.steps[step].member != member || is_own(r, step))
		return DXP_EINVAL;
	r->steps[step].state = STEP_DONE;
	return DXP_OK;
}

static bool run_end(struct mpi_device_run *r)
{
	const uint64_t end_ns = clock_now_ns() + HOST_GROUP_END_NS;
	struct dxp_fabric *f = r->call.xpu->fabric;
	bool quiet = true;

	for (uint32_t i = 0; i < r->plan.step_count; i++) {
		const dxp_event event = r->steps[i].event;
		const uint64_t now_ns = clock_now_ns();
		if (!event)
			continue;
		if (dxp_event_wait(f, event, now_ns < end_ns ? end_ns - now_ns : 0, NULL) ==
		    DXP_ETIMEDOUT)
			quiet = false;
		dxp_event_forget(f, event);
	}
	quiet &= r->call.xpu->status == DXP_OK;
	run_free(r);
	return quiet;
}

static const char *run_error(void)
{
	return error_text();
}

const struct mpi_device *dxp_mpi_device(uint32_t version)
{
	static const struct mpi_device device = {.version = MPI_DEVICE_VERSION,
						 .find = mpi_buffer_find,
						 .scratch_reserve = mpi_xpu_scratch_reserve,
						 .scratch_release = mpi_xpu_scratch_release,
						 .begin = run_begin,
						 .advance = run_advance,
						 .notice = run_notice,
						 .notified = run_notified,
						 .end = run_end,
						 .error = run_error};

	return version == MPI_DEVICE_VERSION ? &device : NULL;
}
