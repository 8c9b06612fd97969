/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves photos through the stages. A flight, a photo in progress, owns one photo buffer per stage,
 * and one record per command in posting order: launches of stage 0, its sends, launches of stage 1,
 * and so on. */
#include "run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"
#include "memory.h"

/* per command; a dead node's lease expires earlier, and the command fails */
#define WAIT_NS     (60 * S_NS)
#define KERNELS_MAX 16 /* of one stage; kernels.cl has 12 */

struct command {
	dxp_event event;
	bool done;
	struct dxp_event_times times;
};

struct flight {
	uint64_t tag;
	uint64_t start_ns;
	struct command *commands;
	uint32_t posted; /* commands with an event */
	uint32_t reaped; /* first commands known to be complete */
	float *answer;
};

struct run_stage {
	struct steps steps;
	struct layout layout;
	uint64_t address; /* address of the region */
	/* its first command in a flight; sends follow launches */
	uint32_t first_command;
	dxp_event warm[KERNELS_MAX]; /* first launch of each kernel */
	uint32_t warm_count;
};

struct run {
	const struct model *model;
	const struct plan *plan;
	struct backend *backend;
	struct run_stage stages[STAGES_MAX];
	struct flight flights[DEPTH_MAX];
	uint32_t depth;
	bool floats;
	/* flight n uses photo buffer n % depth */
	uint64_t submitted, collected;
	uint32_t command_count; /* commands of one flight */
	struct run_bytes bytes;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

static bool is_last(const struct run *r, uint32_t stage)
{
	return stage + 1 == r->plan->stage_count;
}

static uint64_t photo_bytes(const struct run *r)
{
	const struct tensor *input = &r->model->tensors[r->model->input];
	return r->floats ? tensor_float_bytes(input) : (uint64_t)input->elements;
}

static uint64_t photo_address(const struct run *r, uint32_t buffer_index)
{
	const struct run_stage *s = &r->stages[0];
	return s->address + (r->floats ? layout_tensor(&s->layout, r->model->input, buffer_index)
				       : layout_photo(&s->layout, buffer_index));
}

static void resolve(const struct run *r, uint32_t stage, uint32_t buffer_index,
		    const struct step_argument *from, struct dxp_argument *to)
{
	const struct run_stage *s = &r->stages[stage];

	*to = (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER};
	switch (from->kind) {
	case STEP_TENSOR:
		to->address =
			s->address + layout_tensor(&s->layout, (int32_t)from->index, buffer_index);
		return;
	case STEP_CONSTANT: to->address = s->address + from->index; return;
	case STEP_PHOTO: to->address = s->address + layout_photo(&s->layout, buffer_index); return;
	case STEP_VALUE:
		to->kind = DXP_ARGUMENT_BYTES;
		to->bytes = from->bytes;
		memcpy(to->value, from->value, from->bytes);
		return;
	}
}

static struct backend_launch launch_make(const struct run *r, uint32_t stage, uint32_t index,
					 uint32_t buffer_index, struct dxp_argument *arguments)
{
	const struct steps *steps = &r->stages[stage].steps;
	const struct step *step = &steps->list[index];

	for (uint32_t i = 0; i < step->argument_count; i++)
		resolve(r, stage, buffer_index, &step->arguments[i], &arguments[i]);
	return (struct backend_launch){.kernel = step->kernel,
				       .global = {step->global[0], step->global[1]},
				       .arguments = arguments,
				       .argument_count = step->argument_count,
				       /* run_collect waits only for a stage's last launch */
				       .lazy = index + 1 < steps->count};
}

static int stage_open(struct run *r, uint32_t stage, const struct photo_line *line,
		      struct fault *fault)
{
	struct run_stage *s = &r->stages[stage];
	const struct stage *plan = &r->plan->stages[stage];
	bool convert = stage == 0 && !r->floats;
	int status =
		steps_build(r->model, plan->first, plan->last, convert ? line : NULL, &s->steps);
	struct layout_options options = {s->steps.constant_bytes, r->depth, r->floats};

	if (status == DXP_OK)
		status = layout_build(r->model, r->plan, stage, &options, &s->layout);
	if (status != DXP_OK)
		return fault_set(fault, status, "out of memory for the model");
	status = r->backend->ops->alloc(r->backend, stage, s->layout.bytes, &s->address, fault);
	if (status == DXP_OK)
		status = r->backend->ops->build(r->backend, stage, kernels_source, fault);
	s->first_command = r->command_count;
	r->command_count +=
		s->steps.count + (is_last(r, stage) ? 0 : (uint32_t)r->plan->cuts[stage].count);
	return status;
}

static bool is_first_of_kernel(const struct steps *steps, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(steps->list[i].kernel, steps->list[index].kernel) == 0)
			return false;
	return true;
}

/* Starts one work-group of each kernel, without waiting: some devices (PoCL) compile for a local
 * size at the first launch, which would delay the first photo. Memory contents do not affect
 * addresses, and all output is overwritten before use. */
static int stage_warm(struct run *r, uint32_t stage, struct fault *fault)
{
	struct run_stage *s = &r->stages[stage];
	struct dxp_argument arguments[STEP_ARGUMENTS_MAX];
	int status = DXP_OK;

	for (uint32_t i = 0; i < s->steps.count && s->warm_count < KERNELS_MAX; i++) {
		if (!is_first_of_kernel(&s->steps, i))
			continue;
		struct backend_launch launch = launch_make(r, stage, i, 0, arguments);
		launch.global[0] = launch.global[1] = 1;
		launch.lazy = false;
		status = r->backend->ops->launch(r->backend, stage, &launch,
						 &s->warm[s->warm_count], fault);
		if (status != DXP_OK)
			break;
		s->warm_count++;
	}
	/* DXP_EAGAIN is no error: the first photo compiles the remaining kernels */
	return status == DXP_EAGAIN ? DXP_OK : status;
}

static int stage_await(struct run *r, uint32_t stage, struct fault *fault)
{
	const struct run_stage *s = &r->stages[stage];
	struct dxp_event_times times;
	int status = DXP_OK;

	for (uint32_t i = 0; status == DXP_OK && i < s->warm_count; i++)
		status = r->backend->ops->wait(r->backend, s->warm[i], WAIT_NS, &times, fault);
	return status;
}

static int stage_write(struct run *r, uint32_t stage, struct fault *fault)
{
	struct run_stage *s = &r->stages[stage];
	int status = r->backend->ops->write(r->backend, stage, s->address, s->steps.constants,
					    s->steps.constant_bytes, fault);

	r->bytes.model += s->steps.constant_bytes;
	free(s->steps.constants);
	s->steps.constants = NULL;
	return status;
}

/* Devices compile in parallel, while later stages are built and weights sent. */
static int stages_open(struct run *r, const struct photo_line *line, struct fault *fault)
{
	uint32_t count = r->plan->stage_count;
	int status = DXP_OK;

	for (uint32_t i = 0; status == DXP_OK && i < count; i++) {
		status = stage_open(r, i, line, fault);
		if (status == DXP_OK)
			status = stage_warm(r, i, fault);
	}
	for (uint32_t i = 0; status == DXP_OK && i < count; i++)
		status = stage_write(r, i, fault);
	for (uint32_t i = 0; status == DXP_OK && i < count; i++)
		status = stage_await(r, i, fault);
	return status;
}

static int flights_open(struct run *r, struct fault *fault)
{
	size_t answer = (size_t)r->model->tensors[r->model->output].elements;

	for (uint32_t i = 0; i < r->depth; i++) {
		struct flight *f = &r->flights[i];
		f->commands = calloc(r->command_count, sizeof(*f->commands));
		f->answer = calloc(answer, sizeof(*f->answer));
		if (!f->commands || !f->answer)
			return fault_set(fault, DXP_ENOMEM, "out of memory");
	}
	return DXP_OK;
}

int run_open(const struct model *m, const struct plan *plan, struct backend *b,
	     const struct run_options *options, struct run **out, struct fault *fault)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	r->model = m;
	r->plan = plan;
	r->backend = b;
	r->depth = options->depth ? options->depth : 2 * plan->stage_count;
	r->floats = options->floats;
	assert(r->depth <= DEPTH_MAX);
	int status = stages_open(r, &options->line, fault);
	if (status == DXP_OK)
		status = flights_open(r, fault);
	if (status == DXP_OK)
		*out = r;
	else
		run_close(r);
	return status;
}

void run_close(struct run *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		steps_release(&r->stages[i].steps);
		layout_release(&r->stages[i].layout);
	}
	for (uint32_t i = 0; i < r->depth; i++) {
		free(r->flights[i].commands);
		free(r->flights[i].answer);
	}
	free(r);
}

uint32_t run_pending(const struct run *r)
{
	return (uint32_t)(r->submitted - r->collected);
}

uint32_t run_depth(const struct run *r)
{
	return r->depth;
}

const struct run_bytes *run_bytes(const struct run *r)
{
	return &r->bytes;
}

static int reap(struct run *r, struct flight *f, struct fault *fault)
{
	struct command *c = &f->commands[f->reaped];
	int status = r->backend->ops->wait(r->backend, c->event, WAIT_NS, &c->times, fault);

	if (status == DXP_ETIMEDOUT)
		return status;
	c->done = true;
	f->reaped++;
	return status;
}

/* Reaps all posted commands. Returns the failed command's status, not the DXP_ECANCELED of its
 * successors. */
static int reap_all(struct run *r, struct flight *f, struct fault *fault)
{
	int result = DXP_OK;

	while (f->reaped < f->posted) {
		struct fault why;
		int status = reap(r, f, &why);
		if (status == DXP_OK)
			continue;
		if (result == DXP_OK || (result == DXP_ECANCELED && status != DXP_ECANCELED)) {
			result = status;
			*fault = why;
		}
		if (status != DXP_ECANCELED)
			break; /* the rest is canceled or lost too */
	}
	return result;
}

static int make_space(struct run *r, struct fault *fault)
{
	for (uint64_t n = r->collected; n <= r->submitted; n++) {
		struct flight *f = &r->flights[n % r->depth];
		if (f->reaped < f->posted)
			return reap(r, f, fault);
	}
	return fault_set(fault, DXP_EAGAIN,
			 "the xPU accepts no command although none is outstanding");
}

struct waits {
	dxp_event events[DXP_WAIT_MAX];
	uint32_t count;
};

static void wait_for(struct waits *w, const struct command *c)
{
	if (c->done)
		return;
	assert(w->count < DXP_WAIT_MAX);
	w->events[w->count++] = c->event;
}

static int post_step(struct run *r, struct flight *f, uint32_t stage, uint32_t index,
		     const struct waits *waits, struct fault *fault)
{
	struct dxp_argument arguments[STEP_ARGUMENTS_MAX];
	struct backend_launch launch =
		launch_make(r, stage, index, (uint32_t)(f - r->flights), arguments);

	launch.wait = waits->events;
	launch.wait_count = waits->count;
	struct command *c = &f->commands[f->posted];
	*c = (struct command){0};
	int status = r->backend->ops->launch(r->backend, stage, &launch, &c->event, fault);
	if (status == DXP_OK)
		f->posted++;
	return status;
}

static int post_send(struct run *r, struct flight *f, uint32_t stage, int32_t tensor,
		     const struct waits *waits, struct fault *fault)
{
	const struct run_stage *from = &r->stages[stage], *to = &r->stages[stage + 1];
	uint32_t buffer_index = (uint32_t)(f - r->flights);
	struct backend_transfer t = {
		.from = stage,
		.to = stage + 1,
		.from_address = from->address + layout_tensor(&from->layout, tensor, buffer_index),
		.to_address = to->address + layout_tensor(&to->layout, tensor, buffer_index),
		.bytes = tensor_float_bytes(&r->model->tensors[tensor]),
		.wait = waits->events,
		.wait_count = waits->count};

	struct command *c = &f->commands[f->posted];
	*c = (struct command){0};
	int status = r->backend->ops->send(r->backend, &t, &c->event, fault);
	if (status == DXP_OK) {
		f->posted++;
		r->bytes.links[stage] += t.bytes;
	}
	return status;
}

/* Collects what a stage's first command waits for: the sends of the previous cut, and this stage's
 * last launch of the previous photo. */
static void first_waits(const struct run *r, const struct flight *f, uint32_t stage,
			struct waits *w)
{
	const struct run_stage *s = &r->stages[stage];

	*w = (struct waits){0};
	if (stage > 0) {
		uint32_t sends = (uint32_t)r->plan->cuts[stage - 1].count;
		for (uint32_t i = 0; i < sends; i++)
			wait_for(w, &f->commands[s->first_command - sends + i]);
	}
	if (r->submitted > r->collected) {
		const struct flight *before = &r->flights[(r->submitted - 1) % r->depth];
		wait_for(w, &before->commands[s->first_command + s->steps.count - 1]);
	}
}

/* Collects what command `index` waits for: the previous launch, or for a send the last launch. */
static void next_waits(const struct run *r, const struct flight *f, uint32_t stage, uint32_t index,
		       struct waits *w)
{
	const struct run_stage *s = &r->stages[stage];
	uint32_t last = index < s->steps.count ? index : s->steps.count;

	*w = (struct waits){0};
	wait_for(w, &f->commands[s->first_command + last - 1]);
}

static int post_command(struct run *r, struct flight *f, uint32_t stage, uint32_t index,
			struct fault *fault)
{
	const struct run_stage *s = &r->stages[stage];

	for (;;) {
		struct waits waits;
		int status;
		if (index == 0)
			first_waits(r, f, stage, &waits);
		else
			next_waits(r, f, stage, index, &waits);
		if (index < s->steps.count)
			status = post_step(r, f, stage, index, &waits, fault);
		else
			status = post_send(r, f, stage,
					   r->plan->cuts[stage].tensors[index - s->steps.count],
					   &waits, fault);
		if (status == DXP_EAGAIN)
			status = make_space(r, fault);
		else
			return status;
		if (status != DXP_OK)
			return status;
	}
}

static int post_stage(struct run *r, struct flight *f, uint32_t stage, struct fault *fault)
{
	uint32_t count = r->stages[stage].steps.count;
	int status = DXP_OK;

	if (!is_last(r, stage))
		count += (uint32_t)r->plan->cuts[stage].count;
	for (uint32_t i = 0; status == DXP_OK && i < count; i++)
		status = post_command(r, f, stage, i, fault);
	return status;
}

/* Reports the message of an earlier failed command, if it made this post fail. */
static int explain(struct run *r, int status, struct fault *fault)
{
	for (uint64_t n = r->collected; n <= r->submitted; n++) {
		struct fault why;
		int earlier = reap_all(r, &r->flights[n % r->depth], &why);
		if (earlier != DXP_OK && earlier != DXP_ECANCELED) {
			*fault = why;
			return earlier;
		}
	}
	return status;
}

int run_submit(struct run *r, const void *photo, uint64_t tag, struct fault *fault)
{
	assert(run_pending(r) < r->depth);
	uint32_t buffer_index = (uint32_t)(r->submitted % r->depth);
	struct flight *f = &r->flights[buffer_index];

	f->tag = tag;
	f->start_ns = now_ns();
	f->posted = f->reaped = 0;
	int status = r->backend->ops->write(r->backend, 0, photo_address(r, buffer_index), photo,
					    photo_bytes(r), fault);
	if (status == DXP_OK)
		r->bytes.photos += photo_bytes(r);
	for (uint32_t i = 0; status == DXP_OK && i < r->plan->stage_count; i++)
		status = post_stage(r, f, i, fault);
	if (status != DXP_OK)
		return explain(r, status, fault);
	r->submitted++;
	return DXP_OK;
}

static void fill_times(const struct run *r, const struct flight *f, struct run_result *out)
{
	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		const struct run_stage *s = &r->stages[i];
		const struct command *c = &f->commands[s->first_command];
		uint32_t sends = is_last(r, i) ? 0 : (uint32_t)r->plan->cuts[i].count;
		out->stage_ns[i] = c[s->steps.count - 1].times.ended_ns - c[0].times.started_ns;
		for (uint32_t k = 0; k < sends; k++) {
			const struct dxp_event_times *t = &c[s->steps.count + k].times;
			out->link_ns[i] = max_u64(out->link_ns[i], t->ended_ns - t->started_ns);
		}
	}
}

int run_collect(struct run *r, struct run_result *out, struct fault *fault)
{
	assert(run_pending(r) > 0);
	uint32_t buffer_index = (uint32_t)(r->collected % r->depth),
		 last = r->plan->stage_count - 1;
	struct flight *f = &r->flights[buffer_index];
	const struct run_stage *s = &r->stages[last];
	const struct tensor *answer = &r->model->tensors[r->model->output];
	int status = reap_all(r, f, fault);

	if (status == DXP_OK)
		status = r->backend->ops->read(
			r->backend, last, f->answer,
			s->address + layout_tensor(&s->layout, r->model->output, buffer_index),
			tensor_float_bytes(answer), fault);
	if (status != DXP_OK)
		return status;
	r->bytes.answers += tensor_float_bytes(answer);
	*out = (struct run_result){.tag = f->tag,
				   .total_ns = now_ns() - f->start_ns,
				   .answer = f->answer,
				   .answer_count = (int32_t)answer->elements};
	fill_times(r, f, out);
	r->collected++;
	return DXP_OK;
}

int run_peek(struct run *r, int32_t tensor, float *to, struct fault *fault)
{
	uint32_t buffer_index = (uint32_t)((r->collected - 1) % r->depth);

	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		const struct run_stage *s = &r->stages[i];
		if (s->layout.tensors[tensor].kind != MEMORY_CONSTANT)
			continue;
		return r->backend->ops->read(
			r->backend, i, to,
			s->address + layout_tensor(&s->layout, tensor, buffer_index),
			tensor_float_bytes(&r->model->tensors[tensor]), fault);
	}
	return fault_set(fault, DXP_ENOENT, "tensor %d crosses no cut", tensor);
}
