/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes this switch's state as rows of an answer. */
#include "switch/core.h"

#include <string.h>

#include "switch/input.h"
#include "switch/kernel.h"

static void self_row(const struct sw *s, uint64_t now_ns, struct inc_switch_row *row)
{
	const struct sw_options *o = &s->options;
	const struct sw_counters *c = &s->counters;
	uint64_t kernel[KERNEL_COUNTERS] = {0};

	if (o->kernel.counters)
		o->kernel.counters(o->kernel.context, kernel);
	*row = (struct inc_switch_row){
		.ip = o->ip,
		.planes = INC_PLANE_USER | (o->kernel.install ? INC_PLANE_KERNEL : 0),
		.parent_count = o->parent_count,
		.groups = s->group_count,
		.groups_max = o->groups_max,
		.uptime_ms = (now_ns - s->started_ns) / MS_NS,
		.memory_bytes = s->memory_bytes,
		.memory_max = o->memory_max,
		.received = c->received,
		.sent = c->sent,
		.contributions = c->contributions,
		.results = c->results,
		.repeats = c->repeats + kernel[KERNEL_REPEATS],
		.duplicates = c->duplicates + kernel[KERNEL_DUPLICATES],
		.stale = c->stale + kernel[KERNEL_STALE],
		.foreign = c->foreign,
		.malformed = c->malformed + kernel[KERNEL_MALFORMED],
		.icrc_wrong = c->icrc_wrong + kernel[KERNEL_ICRC_WRONG],
		.refused = c->refused + kernel[KERNEL_REJECTED],
		.kernel_contributions = kernel[KERNEL_CONTRIBUTIONS],
		.kernel_results = kernel[KERNEL_RESULTS],
		.kernel_passed = kernel[KERNEL_PASSED],
		.limited = c->limited,
		.expired = c->expired,
	};
	if (o->input) {
		row->forwarded_queued = o->input->queued[INPUT_FORWARDED];
		row->computed_queued = o->input->queued[INPUT_COMPUTED];
		row->forwarded_first = o->input->first[INPUT_FORWARDED];
		row->computed_first = o->input->first[INPUT_COMPUTED];
		row->forwarded_dropped = o->input->dropped[INPUT_FORWARDED];
		row->computed_dropped = o->input->dropped[INPUT_COMPUTED];
	}
	memcpy(row->name, o->name, sizeof(row->name));
	memcpy(row->parents, o->parents, sizeof(row->parents));
}

static uint32_t aggregators_busy(const struct sw_group *g)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i <= g->aggregator_mask; i++)
		busy += g->aggregators[i].state == AGGREGATOR_COLLECTING ||
			g->aggregators[i].state == AGGREGATOR_WAITING;
	return busy;
}

static void group_row(const struct sw *s, const struct sw_group *g, uint64_t now_ns,
		      struct inc_group_row *row)
{
	const struct sw_kernel *k = &s->options.kernel;
	uint64_t used_ns = g->used_ns;

	if (g->in_kernel && k->last_ns)
		used_ns = max_u64(used_ns, k->last_ns(k->context, g->id));
	*row = (struct inc_group_row){
		.id = g->id,
		.members = g->members,
		.children = g->child_count,
		.children_here = g->known,
		.parent_ip = g->parent_ip,
		.epoch = g->epoch,
		.planes = INC_PLANE_USER | (g->in_kernel ? INC_PLANE_KERNEL : 0),
		.master_num = g->mode,
		.job_id = g->job_id,
		.age_ms = (now_ns - g->created_ns) / MS_NS,
		.idle_ms = now_ns > used_ns ? (now_ns - used_ns) / MS_NS : 0,
		.lease_ms = g->lease_ns / MS_NS,
		.world_rank = g->world_rank,
		.slots = g->aggregator_mask + 1,
		.slots_busy = aggregators_busy(g),
		.contributions = g->contributions,
		.results = g->results,
		.repeats = g->repeats,
		.mismatches = g->mismatches,
	};
}

/* Returns whether the reader may see all rows: this switch itself, or its machine. */
static bool sees_all(const struct sw *s, uint32_t reader)
{
	return s->options.list_any || reader == 0 || reader == s->options.ip || reader >> 24 == 127;
}

/* Returns whether the reader may see the group: as a member's host, or a switch below. */
static bool sees_group(const struct sw *s, const struct sw_group *g, uint32_t reader)
{
	for (uint32_t i = 0; i < g->child_count; i++)
		if (g->children[i].ip == reader)
			return true;
	return sees_all(s, reader);
}

static void groups_answer(const struct sw *s, uint32_t reader, uint64_t now_ns,
			  struct inc_answer *out)
{
	for (uint32_t i = 0; i < s->group_count; i++)
		if (sees_group(s, s->groups[i], reader) && out->total++ >= out->first &&
		    out->count < INC_ROWS_MAX)
			group_row(s, s->groups[i], now_ns, &out->groups[out->count++]);
}

/* `index` counts causes (INC_CAUSE_...), then statuses of data packets; *cause: the reason's number
 * in the answer. */
static const struct rejection *rejection_at(const struct sw *s, unsigned index, uint8_t *cause)
{
	if (index < INC_CAUSES) {
		*cause = (uint8_t)index;
		return &s->causes[index];
	}
	*cause = (uint8_t)(128 + index - INC_CAUSES);
	return &s->statuses[index - INC_CAUSES];
}

/* Every reader gets the reasons and their counts, because a row has only the last rejected address:
 * several members of a rejected group would not find their reason. */
static void rejections_answer(const struct sw *s, uint32_t reader, uint64_t now_ns,
			      struct inc_answer *out)
{
	for (unsigned i = 0; i < INC_CAUSES + DATA_REJECTIONS; i++) {
		uint8_t cause;
		const struct rejection *r = rejection_at(s, i, &cause);

		if (r->count == 0)
			continue;
		const bool own = sees_all(s, reader) || r->last_ip == reader;
		if (out->total++ >= out->first && out->count < INC_ROWS_MAX)
			out->refusals[out->count++] = (struct inc_refusal_row){
				.cause = cause,
				.count = r->count,
				.last_ms_ago = (now_ns - r->last_ns) / MS_NS,
				.last_ip = own ? r->last_ip : 0,
				.last_group = own ? r->last_group : 0,
			};
	}
}

void switch_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
		   struct inc_answer *out)
{
	switch_answer_to(s, q, 0, now_ns, out);
}

void switch_answer_to(const struct sw *s, const struct inc_inquiry *q, uint32_t reader,
		      uint64_t now_ns, struct inc_answer *out)
{
	*out = (struct inc_answer){.section = q->section, .first = q->first};
	switch (q->section) {
	case INC_SECTION_GROUPS: groups_answer(s, reader, now_ns, out); break;
	case INC_SECTION_REFUSALS: rejections_answer(s, reader, now_ns, out); break;
	default:
		out->total = out->count = 1;
		out->first = 0;
		self_row(s, now_ns, &out->self);
	}
}
