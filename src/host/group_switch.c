/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether switches compute an allreduce, and makes the members join a group of switches.
 * The members exchange data when they create the group; this host passes it on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/limits.h"
#include "host/group.h"
#include "host/internal.h"

#define ROUNDS_MAX 16 /* steps of an exchange; a client of switches needs at most 10 */

enum dxp_inc_type group_inc_type(enum dxp_type type)
{
	static const enum dxp_inc_type types[DXP_TYPES] = {
		[DXP_INT8] = DXP_INC_INT8,   [DXP_UINT8] = DXP_INC_UINT8,
		[DXP_INT16] = DXP_INC_INT16, [DXP_UINT16] = DXP_INC_UINT16,
		[DXP_INT32] = DXP_INC_INT32, [DXP_UINT32] = DXP_INC_UINT32,
		[DXP_INT64] = DXP_INC_INT64, [DXP_UINT64] = DXP_INC_UINT64,
		[DXP_HALF] = DXP_INC_FP16,   [DXP_BFLOAT16] = DXP_INC_BF16,
		[DXP_FLOAT] = DXP_INC_FLOAT, [DXP_DOUBLE] = DXP_INC_DOUBLE,
	};

	return types[type];
}

enum dxp_inc_op group_inc_op(enum dxp_reduction reduction)
{
	static const enum dxp_inc_op ops[DXP_REDUCTIONS] = {
		[DXP_SUM] = DXP_INC_SUM, [DXP_PRODUCT] = DXP_INC_PROD, [DXP_MIN] = DXP_INC_MIN,
		[DXP_MAX] = DXP_INC_MAX, [DXP_AVERAGE] = DXP_INC_NOOP,
	};

	return ops[reduction];
}

void group_switch_refuse(struct dxp_group *g, const char *why)
{
	g->switches = GROUP_REFUSED;
	snprintf(g->ways.why, sizeof(g->ways.why), "%s", why);
}

static void member_refuse(struct dxp_group *g, uint32_t member, const char *why)
{
	char text[sizeof(g->ways.why)];

	snprintf(text, sizeof(text), "member %u (xPU '%.40s'): %.190s", member,
		 g->xpus[member]->caps.name, why);
	group_switch_refuse(g, text);
}

/* ---- join ---- */

/* The messages of one step of the exchange: one for each member. */
struct step {
	struct command commands[DXP_GROUP_MEMBERS_MAX];
	struct command_reply replies[DXP_GROUP_MEMBERS_MAX];
	int status[DXP_GROUP_MEMBERS_MAX];
	uint8_t all[COMMAND_PACKAGE_BYTES]; /* contributions of all members */
	uint32_t all_bytes;
};

static void step_call(struct dxp_group *g, struct step *s, enum command_switches what)
{
	memset(s->replies, 0, sizeof(s->replies));
	for (uint32_t m = 0; m < g->members; m++) {
		struct command *c = &s->commands[m];
		command_begin(c, COMMAND_SWITCHES);
		c->group = g->switch_number;
		c->what = (uint8_t)what;
		if (what == SWITCHES_OPEN) {
			c->member = (uint16_t)m;
			c->members = (uint16_t)g->members;
		} else if (what == SWITCHES_SHARE) {
			c->data = s->all;
			c->data_bytes = s->all_bytes;
		}
	}
	host_fabric_enter(g->fabric);
	request_call_all(g->xpus, g->members, s->commands, s->replies, s->status, HOST_REPLY_NS);
	host_fabric_leave(g->fabric);
}

/* Returns false, with the reason, if a member has failed. */
static bool step_succeeded(struct dxp_group *g, const struct step *s)
{
	char why[DXP_INC_WHY_BYTES];

	for (uint32_t m = 0; m < g->members; m++) {
		const struct command_reply *r = &s->replies[m];
		if (s->status[m] == DXP_OK)
			continue;
		snprintf(why, sizeof(why), "%.*s", (int)min_u64(r->part_bytes, sizeof(why) - 1),
			 (const char *)r->part);
		member_refuse(g, m, why[0] ? why : dxp_status_text(s->status[m]));
		return false;
	}
	return true;
}

/* Collects the contributions. Returns false if the members do not agree about the step. */
static bool step_collect(struct dxp_group *g, struct step *s)
{
	const uint32_t one = s->replies[0].part_bytes;

	s->all_bytes = 0;
	for (uint32_t m = 0; m < g->members; m++) {
		if (s->replies[m].part_bytes != one || s->all_bytes + one > sizeof(s->all)) {
			member_refuse(g, m,
				      "it differs from member 0 in the exchange of the group; run "
				      "one release of dxpd on all machines");
			return false;
		}
		memcpy(s->all + s->all_bytes, s->replies[m].part, one);
		s->all_bytes += one;
	}
	return true;
}

static bool exchange(struct dxp_group *g, struct step *s)
{
	step_call(g, s, SWITCHES_OPEN);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (!step_succeeded(g, s) || !step_collect(g, s))
			return false;
		if (s->all_bytes == 0)
			return true;
		step_call(g, s, SWITCHES_SHARE);
	}
	group_switch_refuse(g, "the exchange of the members does not end; run one release of dxpd "
			       "on all machines");
	return false;
}

static void join(struct dxp_group *g)
{
	struct step *s = calloc(1, sizeof(*s));

	if (!s) {
		group_switch_refuse(g, "out of memory");
		return;
	}
	host_fabric_enter(g->fabric);
	g->switch_number = ++g->fabric->switch_groups;
	host_fabric_leave(g->fabric);
	if (exchange(g, s) && group_rescuer_start(g) == DXP_OK)
		g->switches = GROUP_JOINED;
	else
		step_call(g, s, SWITCHES_CLOSE);
	free(s);
}

/* Returns false, with the reason, if a member cannot be in a group of switches. */
static bool members_suit(struct dxp_group *g)
{
	for (uint32_t m = 0; m < g->members; m++) {
		host_fabric_enter(g->fabric);
		const struct node_entry *row =
			node_table_find(node_table(g->fabric->node), g->xpus[m]->node);
		const bool able = row && row->capabilities & MANAGE_CAPABILITY_SWITCH;
		host_fabric_leave(g->fabric);
		if (!able) {
			member_refuse(g, m, "its dxpd knows no switch; start it with --switch");
			return false;
		}
		for (uint32_t i = 0; i < m; i++)
			if (g->xpus[i] == g->xpus[m]) {
				member_refuse(g, m,
					      "it is a member twice; switches need other xPUs");
				return false;
			}
	}
	return true;
}

/* ---- choice ---- */

/* Returns true if MIN and MAX of the type may meet a NaN, for which switches follow Open MPI. */
static bool nan_matters(const struct dxp_collective *c)
{
	return c->type >= DXP_HALF && (c->reduction == DXP_MIN || c->reduction == DXP_MAX);
}

static bool operation_suits(const struct dxp_group *g, enum plan_operation operation,
			    const struct dxp_collective *c)
{
	const uint64_t bytes = c->count * dxp_type_bytes(c->type);

	if (operation != PLAN_ALLREDUCE || g->members < 2 || c->count == 0 ||
	    c->reduction == DXP_AVERAGE)
		return false;
	switch (g->options.way) {
	case DXP_WAY_SWITCH: return true;
	case DXP_WAY_AUTO: return bytes <= plan_switched_bytes(g->members) && !nan_matters(c);
	default: return false;
	}
}

bool group_switch_use(struct dxp_group *g, enum plan_operation operation,
		      const struct dxp_collective *c)
{
	if (!operation_suits(g, operation, c))
		return false;
	if (g->switches == GROUP_UNTRIED && members_suit(g))
		join(g);
	return g->switches == GROUP_JOINED;
}

void group_switch_leave(struct dxp_group *g)
{
	struct step *s = g->rescuer_started ? calloc(1, sizeof(*s)) : NULL;

	group_rescuer_stop(g);
	/* Without memory, the members stay in the group until this host closes the xPUs. */
	if (s)
		step_call(g, s, SWITCHES_CLOSE);
	free(s);
}
