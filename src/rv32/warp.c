/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules lanes in groups of one pc: the deepest call first, then the lowest pc. Groups join
 * where their pcs meet. After FAIR_BRANCHES backward branches the longest waiting group runs, so
 * that a spin lock between lanes progresses. */
#include "rv32/core_state.h"
#include "rv32/lane.h"

#define STACK_POINTER 2

void rv32_warp_insert(struct warp *w, uint32_t pc, uint32_t mask)
{
	struct lane_group *g = w->groups;

	for (uint32_t i = 0; i < w->group_count; i++, g++) {
		if (g->pc != pc)
			continue;
		g->mask |= mask;
		g->sp = w->row[STACK_POINTER][first_lane(g->mask)];
		return;
	}
	*g = (struct lane_group){pc, mask, w->row[STACK_POINTER][first_lane(mask)], w->stamp};
	w->group_count++;
}

static bool goes_first(const struct lane_group *a, const struct lane_group *b, bool oldest)
{
	if (oldest && a->stamp != b->stamp)
		return a->stamp < b->stamp;
	return a->sp != b->sp ? a->sp < b->sp : a->pc < b->pc;
}

/* Removes a group; `oldest`: the longest waiting one. */
static struct lane_group next_group(struct warp *w, bool oldest)
{
	uint32_t best = 0;
	struct lane_group g;

	for (uint32_t i = 1; i < w->group_count; i++)
		if (goes_first(&w->groups[i], &w->groups[best], oldest))
			best = i;
	g = w->groups[best];
	w->groups[best] = w->groups[--w->group_count];
	return g;
}

/* Returns the lowest pc of another group after `pc`, where they join; else `far`. */
static uint32_t meeting_pc(const struct warp *w, uint32_t pc, uint32_t far)
{
	uint32_t least = far;

	for (uint32_t i = 0; i < w->group_count; i++)
		if (w->groups[i].pc > pc && w->groups[i].pc < least)
			least = w->groups[i].pc;
	return least;
}

/* Runs a group until w->event; w->block is then the next step. */
static void run_group(struct warp *w, const struct lane_group *g)
{
	const struct rv32_code *code = w->core->launch->code;
	const uint64_t before = w->count;
	int32_t branches = w->quota;

	if (w->group_count > 0 && branches > FAIR_BRANCHES)
		branches = FAIR_BRANCHES;
	w->steps = g->mask == UINT32_MAX ? code->full : code->masked;
	if (w->mask != g->mask)
		code->execute->set_mask(w, g->mask);
	w->block = w->steps + g->pc;
	w->meet = w->steps + meeting_pc(w, g->pc, code->count + 1);
	w->countdown = branches;
	w->event = EVENT_NONE;
	if (w->core->launch->trace)
		rv32_run_traced(w, w->block);
	else
		code->execute->run(w, w->block);
	/* Each group counts, because its lanes may leave at branches to several steps. */
	w->quota -= branches - w->countdown + 1;
	w->items += (w->count - before) * (uint64_t)__builtin_popcount(g->mask);
}

static void hold(struct warp *w, uint32_t pc, uint32_t mask)
{
	w->held[w->held_count++] = (struct lane_group){.pc = pc, .mask = mask};
	w->waiting |= mask;
}

bool rv32_warp_run(struct warp *w)
{
	w->quota = WARP_BRANCHES;
	while (w->group_count > 0 && w->quota > 0) {
		const struct lane_group g = next_group(w, w->rotate);

		w->stamp++;
		w->rotate = false;
		run_group(w, &g);
		const uint32_t pc = (uint32_t)(w->block - w->steps);
		switch ((enum event)w->event) {
		case EVENT_SPLIT:
			rv32_warp_insert(w, (uint32_t)(w->other - w->steps), w->other_mask);
			rv32_warp_insert(w, pc, g.mask & ~w->other_mask);
			break;
		case EVENT_PAUSE:
			w->quota = 0;
			w->rotate = true;
			rv32_warp_insert(w, pc, g.mask);
			break;
		case EVENT_COUNTDOWN:
			w->rotate = true;
			rv32_warp_insert(w, pc, g.mask);
			break;
		case EVENT_NONE:
		case EVENT_PASSED: rv32_warp_insert(w, pc, g.mask); break;
		case EVENT_BARRIER: hold(w, pc, g.mask); break;
		case EVENT_LEFT: break;
		case EVENT_TRAP: return false;
		}
	}
	return true;
}

void rv32_warp_release(struct warp *w, uint32_t mask)
{
	uint32_t kept = 0;

	w->waiting &= ~mask;
	for (uint32_t i = 0; i < w->held_count; i++) {
		struct lane_group g = w->held[i];

		if (g.mask & mask)
			rv32_warp_insert(w, g.pc, g.mask & mask);
		g.mask &= ~mask;
		if (g.mask)
			w->held[kept++] = g;
	}
	w->held_count = kept;
}

void rv32_run_traced(struct warp *w, struct step *s)
{
	const struct rv32_launch *launch = w->core->launch;

	do {
		launch->trace(launch->trace_context, w->index,
			      launch->code->base + 4 * (uint32_t)(s - w->steps), w->mask,
			      (const uint32_t(*)[RV32_LANES])w->row);
		w->stop = s + 1;
		s = s->fn(w, s);
	} while (s != w->meet);
	w->count += (uint64_t)(s - w->block);
	w->block = s;
}
