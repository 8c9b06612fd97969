/* SPDX-License-Identifier: BSD-3-Clause */
/* A minimal owner of a bridge, which passes actions and completions between bridge and simulated
 * hardware. */
#include "sim/bridge_lab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bridge/limits.h"

#define SCRIBBLE 0xee /* buffer bytes that no step has written */

/* The index in `steps` is the tag of the step. */
struct step {
	struct bridge_action action;
	bool used;
};

struct bridge_lab {
	struct bridge_lab_options options;
	struct bridge *bridge;
	struct stages *stages;
	uint8_t *rings[2]; /* [0] towards the device, [1] from the device */
	uint8_t *device;
	struct step steps[STAGES_STEPS_MAX];
	struct bridge_lab_peaks peaks;
	uint32_t open;
};

static uint64_t now_ns(const struct bridge_lab *l)
{
	return bridge_stages_now_ps(l->stages) / STAGES_NS;
}

static int lab_fill(struct bridge_lab *l)
{
	const struct bridge_lab_options *o = &l->options;
	uint64_t ring = (uint64_t)(o->buffers ? o->buffers : BRIDGE_BUFFERS) * o->buffer_bytes;
	int status = bridge_stages_create(&o->stages, &l->stages);

	if (status != DXP_OK)
		return status;
	for (int i = 0; i < 2; i++)
		if (!(l->rings[i] = malloc(ring ? ring : 1)))
			return DXP_ENOMEM;
	if (o->device_bytes && !(l->device = calloc(1, o->device_bytes)))
		return DXP_ENOMEM;
	l->peaks.ring_bytes = 2 * ring;
	const struct bridge_options b = {.buffers = o->buffers,
					 .buffer_bytes = o->buffer_bytes,
					 .to_device = l->rings[0],
					 .from_device = l->rings[1],
					 .fills = o->fills,
					 .dmas = o->dmas,
					 .stall_ns = o->stall_ns};
	return bridge_create(&b, &l->bridge);
}

int bridge_lab_create(const struct bridge_lab_options *options, struct bridge_lab **out)
{
	struct bridge_lab *l = calloc(1, sizeof(*l));

	if (!l)
		return DXP_ENOMEM;
	l->options = *options;
	int status = lab_fill(l);
	if (status != DXP_OK) {
		bridge_lab_destroy(l);
		return status;
	}
	*out = l;
	return DXP_OK;
}

static void completions_dequeue(struct bridge_lab *l);

void bridge_lab_destroy(struct bridge_lab *l)
{
	if (!l)
		return;
	if (l->bridge) {
		bridge_stages_device_reset(l->stages);
		bridge_stages_peer_lost(l->stages);
		completions_dequeue(l);
	}
	bridge_destroy(l->bridge);
	bridge_stages_destroy(l->stages);
	free(l->rings[0]);
	free(l->rings[1]);
	free(l->device);
	free(l);
}

static void ways(const struct bridge_lab *l, const struct bridge_action *a, const uint8_t **from,
		 uint8_t **to)
{
	const struct bridge_lab_transfer *t = a->context;
	const uint8_t *source = t->source ? t->source + a->at : NULL;
	uint8_t *sink = t->sink ? t->sink + a->at : NULL;
	uint8_t *in = l->device + t->device_to + a->at;
	const uint8_t *out = l->device + t->device_from + a->at;

	switch (a->step) {
	case BRIDGE_FILL: *from = source, *to = a->in; break;
	case BRIDGE_DMA_IN: *from = a->in, *to = in; break;
	case BRIDGE_DMA_OUT: *from = out, *to = a->out; break;
	case BRIDGE_DMA_THROUGH: *from = a->in, *to = a->out; break;
	case BRIDGE_DRAIN: *from = a->out, *to = sink; break;
	default:
		*from = t->direct == STAGES_IN || t->direct == STAGES_THROUGH ? source : out;
		*to = t->direct == STAGES_OUT || t->direct == STAGES_THROUGH ? sink : in;
	}
}

static void first_half(struct bridge_lab *l, const struct bridge_action *a)
{
	const uint8_t *from;
	uint8_t *to;

	ways(l, a, &from, &to);
	if (a->step == BRIDGE_FILL)
		memset(a->in, SCRIBBLE, a->bytes);
	if (a->step == BRIDGE_DMA_OUT || a->step == BRIDGE_DMA_THROUGH)
		memset(a->out, SCRIBBLE, a->bytes);
	memcpy(to, from, a->bytes / 2);
}

static void second_half(struct bridge_lab *l, const struct bridge_action *a)
{
	uint32_t half = a->bytes / 2;
	const uint8_t *from;
	uint8_t *to;

	ways(l, a, &from, &to);
	memcpy(to + half, from + half, a->bytes - half);
}

static enum stages_step stage_of(const struct bridge_action *a)
{
	switch (a->step) {
	case BRIDGE_FILL: return STAGES_READ;
	case BRIDGE_DMA_IN: return STAGES_IN;
	case BRIDGE_DMA_OUT: return STAGES_OUT;
	case BRIDGE_DMA_THROUGH: return STAGES_THROUGH;
	case BRIDGE_DRAIN: return STAGES_WRITE;
	default: return ((const struct bridge_lab_transfer *)a->context)->direct;
	}
}

static int action_start(struct bridge_lab *l, const struct bridge_action *a)
{
	uint32_t tag = 0;

	while (tag < STAGES_STEPS_MAX && l->steps[tag].used)
		tag++;
	if (tag == STAGES_STEPS_MAX)
		return DXP_EAGAIN;
	int status = bridge_stages_start(l->stages, stage_of(a), a->bytes, tag);
	if (status != DXP_OK)
		return status;
	l->steps[tag] = (struct step){.action = *a, .used = true};
	if (l->device)
		first_half(l, a);
	return DXP_OK;
}

static void peaks_read(struct bridge_lab *l)
{
	uint32_t to, from;

	bridge_buffers_used(l->bridge, &to, &from);
	l->peaks.to_device = to > l->peaks.to_device ? to : l->peaks.to_device;
	l->peaks.from_device = from > l->peaks.from_device ? from : l->peaks.from_device;
}

static void actions_run(struct bridge_lab *l)
{
	struct bridge_action a;

	while (bridge_next(l->bridge, now_ns(l), &a)) {
		peaks_read(l);
		if (action_start(l, &a) != DXP_OK)
			bridge_later(l->bridge, a.id);
	}
}

static void transfers_start(struct bridge_lab *l)
{
	struct bridge_end end;

	while (bridge_ended(l->bridge, &end)) {
		struct bridge_lab_transfer *t = end.context;
		assert(t->bridge == end.transfer && !t->ended);
		t->ended = true;
		t->bridge = NULL;
		t->end = end;
		t->end_ps = bridge_stages_now_ps(l->stages);
		l->open--;
	}
}

static void completions_dequeue(struct bridge_lab *l)
{
	uint64_t tag;
	int status;

	while (bridge_stages_dequeue(l->stages, &tag, &status)) {
		struct step *d = &l->steps[tag];
		if (status == DXP_OK && l->device)
			second_half(l, &d->action);
		d->used = false;
		bridge_done(l->bridge, d->action.id, status, now_ns(l));
	}
	transfers_start(l);
}

int bridge_lab_begin(struct bridge_lab *l, struct bridge_lab_transfer *t)
{
	t->order.context = t;
	int status = bridge_begin(l->bridge, &t->order, now_ns(l), &t->bridge);

	if (status != DXP_OK)
		return status;
	t->ended = false;
	t->begin_ps = bridge_stages_now_ps(l->stages);
	l->open++;
	return DXP_OK;
}

void bridge_lab_cancel(struct bridge_lab *l, struct bridge_lab_transfer *t, int status)
{
	bridge_cancel(l->bridge, t->bridge, status);
	transfers_start(l);
}

static void stalls_end(struct bridge_lab *l)
{
	uint64_t before = bridge_counters(l->bridge)->stalls;

	if (bridge_deadline(l->bridge) > now_ns(l))
		return;
	if (bridge_expire(l->bridge, now_ns(l))) {
		l->peaks.resets++;
		bridge_stages_device_reset(l->stages);
	} else if (bridge_counters(l->bridge)->stalls != before) {
		bridge_stages_peer_lost(l->stages);
	}
	completions_dequeue(l);
}

/* Returns the deadline on the clock of the simulated hardware. */
static uint64_t deadline_ps(const struct bridge_lab *l)
{
	uint64_t ns = bridge_deadline(l->bridge);

	return ns > STAGES_NEVER / STAGES_NS ? STAGES_NEVER : ns * STAGES_NS;
}

bool bridge_lab_run(struct bridge_lab *l, uint64_t limit_ns)
{
	uint64_t limit_ps = bridge_stages_now_ps(l->stages) + limit_ns * STAGES_NS;

	for (;;) {
		transfers_start(l);
		if (l->open == 0)
			return true;
		actions_run(l);
		uint64_t next = bridge_stages_next_ps(l->stages), stall = deadline_ps(l);
		if (next == STAGES_NEVER && stall == STAGES_NEVER)
			return l->open == 0;
		if (min_u64(next, stall) > limit_ps)
			return false;
		bridge_stages_advance(l->stages, min_u64(next, stall));
		completions_dequeue(l);
		stalls_end(l);
	}
}

uint8_t *bridge_lab_device(struct bridge_lab *l)
{
	return l->device;
}

struct bridge *bridge_lab_core(struct bridge_lab *l)
{
	return l->bridge;
}

struct stages *bridge_lab_stages(struct bridge_lab *l)
{
	return l->stages;
}

struct bridge_lab_peaks bridge_lab_peaks(const struct bridge_lab *l)
{
	return l->peaks;
}
