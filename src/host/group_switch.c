/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether switches compute an allreduce, and when the members join a group of switches. The
 * first attempt is made in the call of the first operation. Later ones, after a rejection or loss,
 * are made by the rescuer, while operations use other ways. */
#include <stdio.h>

#include "base/clock.h"
#include "collective/limits.h"
#include "host/group.h"
#include "host/internal.h"

void group_switch_suspend(struct dxp_group *g)
{
	const uint64_t now_ns = clock_now_ns();

	if (g->switches == GROUP_REFUSED)
		return;
	if (g->switches == GROUP_JOINED && now_ns - g->joined_ns >= HOST_SWITCH_RETRY_MAX_NS)
		g->retry_gap_ns = 0;
	g->retry_gap_ns = min_u64(max_u64(2 * g->retry_gap_ns, HOST_SWITCH_RETRY_MIN_NS),
				  HOST_SWITCH_RETRY_MAX_NS);
	g->retry_ns = now_ns + g->retry_gap_ns;
	g->switches = GROUP_REFUSED;
}

void group_switch_refuse(struct dxp_group *g, const char *why)
{
	group_switch_suspend(g);
	snprintf(g->ways.why, sizeof(g->ways.why), "%s", why);
}

void group_switch_unsupported(struct dxp_group *g, enum dxp_type type, enum dxp_reduction reduction)
{
	g->unsupported[type][reduction] = true;
	snprintf(g->ways.why, sizeof(g->ways.why),
		 "the switches do not support the %s of %s, so it uses ring or tree; run one "
		 "release of dxp-switch and dxpd on all machines",
		 dxp_reduction_text(reduction), dxp_type_text(type));
}

static void member_refuse(struct dxp_group *g, uint32_t member, const char *why)
{
	char text[GROUP_WHY_BYTES];

	group_member_why(g, member, why, text);
	group_switch_refuse(g, text);
}

/* ---- join ---- */

static uint32_t number_next(struct dxp_group *g)
{
	host_fabric_enter(g->fabric);
	const uint32_t number = ++g->fabric->switch_groups;
	host_fabric_leave(g->fabric);
	return number;
}

static void joined(struct dxp_group *g, uint32_t number)
{
	g->switches = GROUP_JOINED;
	g->switch_number = number;
	g->joined_ns = clock_now_ns();
	g->ways.why[0] = '\0';
}

static void join(struct dxp_group *g)
{
	const uint32_t number = number_next(g);
	char why[GROUP_WHY_BYTES];

	if (!group_join(g, number, NULL, why))
		group_switch_refuse(g, why);
	else if (group_rescuer_start(g) == DXP_OK)
		joined(g, number);
	else
		group_leave(g, number);
}

void group_switch_rejoin(struct dxp_group *g)
{
	char why[GROUP_WHY_BYTES];

	pthread_mutex_lock(&g->lock);
	const uint32_t before = g->switch_number, number = number_next(g);
	g->switch_number = 0;
	pthread_mutex_unlock(&g->lock);
	if (before)
		group_leave(g, before);
	bool success = group_join(g, number, &g->rescuer_stop, why);
	pthread_mutex_lock(&g->lock);
	if (success)
		joined(g, number);
	else
		group_switch_refuse(g, why);
	pthread_mutex_unlock(&g->lock);
}

/* Returns true if outstanding operations need the lost group at the xPUs. */
static bool group_needed(const struct dxp_group *g)
{
	const struct group_operation *o = g->first;

	while (o && !o->by_switches)
		o = o->next;
	return o != NULL;
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

/* Begins another attempt if it is time for one. It ends later, so the caller uses another way. */
static void retry(struct dxp_group *g)
{
	if (clock_now_ns() < g->retry_ns || group_needed(g))
		return;
	g->switches = GROUP_RETRYING;
	if (members_suit(g))
		group_rescuer_rejoin(g);
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
	switch (group_way(g, c)) {
	case DXP_WAY_SWITCH: return true;
	case DXP_WAY_AUTO: return bytes <= plan_switched_bytes(g->members) && !nan_matters(c);
	default: return false;
	}
}

bool group_switch_join(struct dxp_group *g)
{
	if (g->switches == GROUP_UNTRIED && members_suit(g))
		join(g);
	else if (g->switches == GROUP_REFUSED)
		retry(g);
	return g->switches == GROUP_JOINED;
}

bool group_switch_use(struct dxp_group *g, enum plan_operation operation,
		      const struct dxp_collective *c)
{
	if (g->kernels || !operation_suits(g, operation, c))
		return false;
	if (g->unsupported[c->type][c->reduction]) {
		if (g->switches == GROUP_JOINED)
			group_switch_unsupported(g, c->type, c->reduction);
		return false;
	}
	return group_switch_join(g);
}

void group_switch_leave(struct dxp_group *g)
{
	if (g->switch_number)
		group_leave(g, g->switch_number);
}
