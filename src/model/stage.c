/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/stage.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

#define NO_UNIT UINT32_MAX

/* An event's kind is 2 x step + one of these; its subject is a unit. */
enum {
	ARRIVE, /* first byte reaches the stage's queue */
	FREE,   /* last byte has left the server */
};

int model_pipeline_create(struct model_pipeline *p, uint32_t unit_most, uint32_t message_most)
{
	memset(p, 0, sizeof(*p));
	p->units = calloc(unit_most, sizeof(*p->units));
	p->messages = calloc(message_most, sizeof(*p->messages));
	p->unit_most = unit_most;
	p->message_most = message_most;
	if (p->units && p->messages && model_queue_create(&p->queue, 1024) == DXP_OK) {
		for (size_t i = 0; i < MODEL_STAGES; i++)
			p->stages[i].head = p->stages[i].tail = NO_UNIT;
		return DXP_OK;
	}
	model_pipeline_destroy(p);
	return DXP_ENOMEM;
}

void model_pipeline_destroy(struct model_pipeline *p)
{
	model_queue_destroy(&p->queue);
	free(p->units);
	free(p->messages);
	p->units = NULL;
	p->messages = NULL;
}

static void event(struct model_pipeline *p, uint64_t at_ps, uint32_t step, uint32_t kind,
		  uint32_t unit)
{
	if (!model_queue_add(&p->queue, at_ps, 2 * step + kind, unit))
		p->no_memory = true;
}

uint32_t model_pipeline_send(struct model_pipeline *p, uint64_t at_ps,
			     const struct model_route *const *routes, uint32_t count)
{
	if (p->message_count == p->message_most || count > p->unit_most - p->unit_count)
		return UINT32_MAX;
	uint32_t number = p->message_count++;
	p->messages[number] = (struct model_message){p->unit_count, count, {0}, count};
	for (uint32_t i = 0; i < count; i++) {
		p->units[p->unit_count] = (struct model_unit){
			.route = routes[i], .message = number, .next = NO_UNIT, .tail_ps = at_ps};
		event(p, at_ps, 0, ARRIVE, p->unit_count++);
	}
	return number;
}

static const struct model_step *step_of(const struct model_unit *u)
{
	return &u->route->steps[u->step];
}

/* Returns NULL if there is none, or no reserved space is needed. */
static struct model_stage *next_stage(struct model_pipeline *p, const struct model_unit *u)
{
	if (u->step + 1 >= u->route->count || step_of(u)->barrier)
		return NULL;
	struct model_stage *s = &p->stages[u->route->steps[u->step + 1].stage];
	return s->depth ? s : NULL;
}

static bool tokens_free(const struct model_pipeline *p, uint8_t mask)
{
	for (unsigned i = 0; i < MODEL_POOLS; i++)
		if ((mask >> i & 1) && !p->pools[i])
			return false;
	return true;
}

static void tokens_add(struct model_pipeline *p, uint8_t mask, uint32_t count)
{
	for (unsigned i = 0; i < MODEL_POOLS; i++)
		if (mask >> i & 1)
			p->pools[i] += count;
}

/* Returns true if the first unit in the queue may start. */
static bool may_start(struct model_pipeline *p, const struct model_stage *s)
{
	if (s->head == NO_UNIT || (s->servers && s->busy == s->servers))
		return false;
	const struct model_unit *u = &p->units[s->head];
	const struct model_stage *next = next_stage(p, u);
	return (!next || next->queued < next->depth) && tokens_free(p, step_of(u)->acquire);
}

/* Starts the first unit in the queue. */
static void start(struct model_pipeline *p, struct model_stage *s)
{
	uint32_t number = s->head;
	struct model_unit *u = &p->units[number];
	const struct model_step *step = step_of(u);
	struct model_stage *next = next_stage(p, u);
	uint64_t now = p->queue.now_ps;
	/* the last byte must arrive before it leaves */
	uint64_t end = max_u64(now + step->hold_ps, u->tail_ps + step->fill_ps);

	s->head = u->next;
	if (s->head == NO_UNIT)
		s->tail = NO_UNIT;
	if (s->depth)
		s->queued--;
	s->busy++;
	s->busy_ps += end - now;
	if (next)
		next->queued++;
	tokens_add(p, step->acquire, UINT32_MAX); /* modulo 2^32: subtracts one token */
	if (p->trace)
		p->trace(p->context, step->stage, number, now, end);
	p->moves++;
	u->tail_ps = end + step->delay_ps;
	event(p, end, u->step, FREE, number);
	if (!step->barrier && u->step + 1 < u->route->count && step->fill_ps < end - now) {
		u->early |= 1u << u->step;
		event(p, now + step->fill_ps + step->delay_ps, u->step + 1, ARRIVE, number);
	}
}

/* Repeats, because a start may free space or tokens for others. */
static void start_all(struct model_pipeline *p)
{
	bool moved;

	do {
		moved = false;
		for (uint32_t i = p->stage_count; i-- > 0;) {
			while (may_start(p, &p->stages[i])) {
				start(p, &p->stages[i]);
				moved = true;
			}
		}
	} while (moved);
}

/* Its space was reserved when the previous step started. */
static void arrive(struct model_pipeline *p, uint32_t number, uint32_t step)
{
	struct model_unit *u = &p->units[number];
	struct model_stage *s = &p->stages[u->route->steps[step].stage];

	if (s->depth && (step == 0 || u->route->steps[step - 1].barrier))
		s->queued++;
	u->step = step;
	u->next = NO_UNIT;
	if (s->head == NO_UNIT)
		s->head = number;
	else
		p->units[s->tail].next = number;
	s->tail = number;
}

/* Frees server and tokens, and advances the unit unless it left early. */
static void complete(struct model_pipeline *p, uint32_t number, uint32_t step)
{
	struct model_unit *u = &p->units[number];
	const struct model_step *of = &u->route->steps[step];
	struct model_message *m = &p->messages[u->message];
	uint64_t now = p->queue.now_ps;

	p->stages[of->stage].busy--;
	tokens_add(p, of->release, 1);
	m->done[step]++;
	if (step + 1 == u->route->count) {
		if (--m->left == 0 && p->done)
			p->done(p->context, u->message, now + of->delay_ps);
	} else if (!of->barrier) {
		if (!(u->early >> step & 1))
			event(p, now + of->delay_ps, step + 1, ARRIVE, number);
	} else if (m->done[step] == m->count) {
		for (uint32_t i = m->first; i < m->first + m->count; i++) {
			p->units[i].tail_ps = now + of->delay_ps;
			event(p, now + of->delay_ps, step + 1, ARRIVE, i);
		}
	}
}

int model_pipeline_run(struct model_pipeline *p)
{
	struct model_event e;

	while (!p->no_memory && model_queue_next(&p->queue, &e)) {
		if (e.kind % 2 == ARRIVE)
			arrive(p, e.subject, e.kind / 2);
		else
			complete(p, e.subject, e.kind / 2);
		start_all(p);
	}
	if (p->no_memory)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < p->message_count; i++)
		if (p->messages[i].left)
			return DXP_EBUSY;
	return DXP_OK;
}
