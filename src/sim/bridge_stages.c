/* SPDX-License-Identifier: BSD-3-Clause */
/* A step streams when it is the oldest on each of its lines and its latency has passed. Each change
 * divides the rates anew, and recomputes completions from the remaining bytes. */
#include "sim/bridge_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"

#define PS_PER_S 1e12

/* Lines are resources through which only one step at a time can stream. */
enum { NET_IN = 1, NET_OUT = 2, TO_DEVICE = 4, FROM_DEVICE = 8, COPY = 16 };

static const struct {
	uint8_t lines;
	bool memory;
} kinds[STAGES_KINDS] = {
	[STAGES_READ] = {NET_IN, false}, [STAGES_WRITE] = {NET_OUT, false},
	[STAGES_IN] = {TO_DEVICE, true}, [STAGES_OUT] = {FROM_DEVICE, true},
	[STAGES_COPY] = {COPY, true},    [STAGES_THROUGH] = {TO_DEVICE | FROM_DEVICE, false},
};

enum phase { WAITS, CONTROLS, STREAMS, ENDS, ENDED };

struct step {
	uint64_t tag;
	uint8_t kind, phase;
	/* never completes, and blocks its lines from its first byte on */
	bool stalls;
	int status;
	/* end of the phase; in WAITS, of the latency */
	uint64_t at_ps;
	double left; /* not transferred yet */
	double rate; /* bytes/s while streaming */
};

struct stages {
	struct stages_options options;
	struct rng rng;
	uint64_t now_ps;
	uint64_t started[STAGES_KINDS];
	struct step steps[STAGES_STEPS_MAX]; /* outstanding, in order of start */
	uint32_t count;
};

static bool rate_valid(const struct stages_rate *r)
{
	return r->bytes_per_s <= STAGES_RATE_MAX && r->latency_ns <= STAGES_LATENCY_MAX &&
	       r->end_ns <= STAGES_LATENCY_MAX;
}

int bridge_stages_create(const struct stages_options *options, struct stages **out)
{
	const struct stages_options *o = options;

	if (!rate_valid(&o->read) || !rate_valid(&o->write) || !rate_valid(&o->to_device) ||
	    !rate_valid(&o->from_device) || o->memory_bytes_per_s > STAGES_RATE_MAX ||
	    o->queue > STAGES_STEPS_MAX || o->jitter_ns > STAGES_LATENCY_MAX ||
	    o->control_ns > STAGES_LATENCY_MAX)
		return DXP_EINVAL;
	for (int kind = 0; kind < STAGES_KINDS; kind++)
		if (o->controller_bytes_per_s[kind] > STAGES_RATE_MAX)
			return DXP_EINVAL;
	struct stages *s = calloc(1, sizeof(*s));
	if (!s)
		return DXP_ENOMEM;
	s->options = *o;
	s->rng.state = o->seed;
	if (s->options.queue == 0)
		s->options.queue = STAGES_STEPS_MAX;
	*out = s;
	return DXP_OK;
}

void bridge_stages_destroy(struct stages *s)
{
	free(s);
}

static double rate_of(uint64_t bytes_per_s)
{
	return bytes_per_s ? (double)bytes_per_s : INFINITY;
}

/* Returns the resource entered first, whose latency counts. A THROUGH step enters at one controller
 * and leaves at the other. */
static const struct stages_rate *entrance(const struct stages *s, uint8_t kind)
{
	switch (kind) {
	case STAGES_READ: return &s->options.read;
	case STAGES_WRITE: return &s->options.write;
	case STAGES_OUT: return &s->options.from_device;
	default: return &s->options.to_device;
	}
}

static const struct stages_rate *leaving(const struct stages *s, uint8_t kind)
{
	return kind == STAGES_THROUGH ? &s->options.from_device : entrance(s, kind);
}

/* Returns bytes/s without the limit of device memory. */
static double line_rate(const struct stages *s, uint8_t kind)
{
	if (kind == STAGES_COPY)
		return INFINITY;
	return fmin(rate_of(s->options.controller_bytes_per_s[kind]),
		    fmin(rate_of(entrance(s, kind)->bytes_per_s),
			 rate_of(leaving(s, kind)->bytes_per_s)));
}

static bool heads_its_lines(const struct stages *s, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (s->steps[k].phase <= STREAMS &&
		    kinds[s->steps[k].kind].lines & kinds[s->steps[i].kind].lines)
			return false;
	return true;
}

/* Divides the memory's rate equally; what a step cannot use, the others get. At most three such
 * steps stream: one per controller, and a copy. */
static void memory_share(struct stages *s)
{
	double left = rate_of(s->options.memory_bytes_per_s);
	struct step *users[3];
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->count; i++)
		if (s->steps[i].phase == STREAMS && kinds[s->steps[i].kind].memory)
			users[count++] = &s->steps[i];
	while (count > 0) {
		/* The slowest first, because it may not use all of its part. */
		uint32_t slowest = 0;
		for (uint32_t i = 1; i < count; i++)
			if (users[i]->rate < users[slowest]->rate)
				slowest = i;
		users[slowest]->rate = fmin(users[slowest]->rate, left / count);
		left -= isinf(left) ? 0 : users[slowest]->rate;
		users[slowest] = users[--count];
	}
}

/* Starts the oldest step on its lines; a DMA begins with the control time. */
static void step_start(const struct stages *s, struct step *p)
{
	bool dma = p->kind != STAGES_READ && p->kind != STAGES_WRITE;

	p->phase = dma && s->options.control_ns > 0 ? CONTROLS : STREAMS;
	p->at_ps = s->now_ps + s->options.control_ns * STAGES_NS;
}

static void rates_share(struct stages *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct step *p = &s->steps[i];
		if (p->phase == WAITS && p->at_ps <= s->now_ps && heads_its_lines(s, i))
			step_start(s, p);
		if (p->phase == CONTROLS && p->at_ps <= s->now_ps)
			p->phase = STREAMS;
		if (p->phase == STREAMS)
			p->rate = line_rate(s, p->kind);
	}
	memory_share(s);
	for (uint32_t i = 0; i < s->count; i++) {
		struct step *p = &s->steps[i];
		if (p->phase == STREAMS)
			p->at_ps = p->stalls ? STAGES_NEVER
					     : s->now_ps +
						       (uint64_t)ceil(p->left / p->rate * PS_PER_S);
	}
}

static bool queue_full(const struct stages *s, uint8_t kind)
{
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < s->count; i++)
		ahead += s->steps[i].phase != ENDED &&
			 kinds[s->steps[i].kind].lines & kinds[kind].lines;
	return ahead >= s->options.queue || s->count == STAGES_STEPS_MAX;
}

int bridge_stages_start(struct stages *s, enum stages_step step, uint64_t bytes, uint64_t tag)
{
	if (queue_full(s, step))
		return DXP_EAGAIN;
	uint64_t nth = ++s->started[step];
	uint64_t late_ns = s->options.jitter_ns ? rng_below(&s->rng, s->options.jitter_ns + 1) : 0;
	bool network = step == STAGES_READ || step == STAGES_WRITE;
	int failure = network ? DXP_EPEERLOST : DXP_EDEVICE;

	s->steps[s->count++] = (struct step){
		.tag = tag,
		.kind = (uint8_t)step,
		.phase = WAITS,
		.stalls = nth == s->options.stall[step],
		.status = nth == s->options.fail[step] ? failure : DXP_OK,
		.at_ps = s->now_ps + (entrance(s, step)->latency_ns + late_ns) * STAGES_NS,
		.left = (double)bytes,
	};
	rates_share(s);
	return DXP_OK;
}

uint64_t bridge_stages_next_ps(const struct stages *s)
{
	uint64_t next = STAGES_NEVER;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct step *p = &s->steps[i];
		if (p->phase == ENDED)
			return s->now_ps;
		/* A step that waits behind another starts when that completes, so it has no
		 * event. */
		if (p->phase != WAITS || p->at_ps > s->now_ps)
			next = min_u64(next, p->at_ps);
	}
	return next;
}

uint64_t bridge_stages_now_ps(const struct stages *s)
{
	return s->now_ps;
}

static void step_advance(const struct stages *s, struct step *p, uint64_t from_ps)
{
	if (p->phase == STREAMS) {
		p->left -= isinf(p->rate) ? p->left
					  : p->rate * (double)(s->now_ps - from_ps) / PS_PER_S;
		if (p->at_ps > s->now_ps)
			return;
		p->phase = ENDS;
		p->at_ps = s->now_ps + leaving(s, p->kind)->end_ns * STAGES_NS;
	}
	if (p->phase == ENDS && p->at_ps <= s->now_ps)
		p->phase = ENDED;
}

void bridge_stages_advance(struct stages *s, uint64_t ps)
{
	uint64_t from_ps = s->now_ps;

	s->now_ps = ps;
	for (uint32_t i = 0; i < s->count; i++)
		step_advance(s, &s->steps[i], from_ps);
	rates_share(s);
}

bool bridge_stages_dequeue(struct stages *s, uint64_t *tag, int *status)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct step *p = &s->steps[i];
		if (p->phase != ENDED)
			continue;
		*tag = p->tag;
		*status = p->status;
		memmove(p, p + 1, (--s->count - i) * sizeof(*p));
		return true;
	}
	return false;
}

void bridge_stages_heal(struct stages *s)
{
	memset(s->options.fail, 0, sizeof(s->options.fail));
	memset(s->options.stall, 0, sizeof(s->options.stall));
	for (uint32_t i = 0; i < s->count; i++)
		if (s->steps[i].phase != ENDED)
			s->steps[i].status = DXP_OK;
}

static void end_all(struct stages *s, bool network, int status)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct step *p = &s->steps[i];
		bool is_network = kinds[p->kind].lines & (NET_IN | NET_OUT);
		if (p->phase == ENDED || is_network != network)
			continue;
		p->phase = ENDED;
		p->status = status;
	}
	rates_share(s);
}

void bridge_stages_device_reset(struct stages *s)
{
	end_all(s, false, DXP_EDEVICE);
}

void bridge_stages_peer_lost(struct stages *s)
{
	end_all(s, true, DXP_EPEERLOST);
}
