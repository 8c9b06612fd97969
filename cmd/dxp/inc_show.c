/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the tables of `dxp inc`. */
#include <stdio.h>

#include <dxp/status.h>

#include "cmd/dxp/inc.h"
#include "cmd/dxp/nodes.h"

/* Formats "3.2 s", "5 min", "2 h". */
static const char *time_format(uint64_t ms, char out[16])
{
	if (ms < 60000)
		snprintf(out, 16, "%.1f s", (double)ms / 1000);
	else if (ms < 7200000)
		snprintf(out, 16, "%u min", (unsigned)(ms / 60000));
	else
		snprintf(out, 16, "%llu h", (unsigned long long)(ms / 3600000));
	return out;
}

static unsigned long long ull(uint64_t v)
{
	return v;
}

static void counters_show(const struct inc_switch_row *r)
{
	printf("  user space   %llu contributions, %llu results\n", ull(r->contributions),
	       ull(r->results));
	if (r->planes & INC_PLANE_KERNEL)
		printf("  XDP          %llu contributions, %llu results, %llu left to user space\n",
		       ull(r->kernel_contributions), ull(r->kernel_results), ull(r->kernel_passed));
	printf("  repeated     %llu repeats, %llu duplicates, %llu stale\n", ull(r->repeats),
	       ull(r->duplicates), ull(r->stale));
	printf("  packets      %llu received, %llu sent (user space)\n", ull(r->received),
	       ull(r->sent));
	printf("  dropped      %llu rejected, %llu malformed, %llu with a wrong ICRC, %llu "
	       "foreign\n",
	       ull(r->refused), ull(r->malformed), ull(r->icrc_wrong), ull(r->foreign));
	printf("  forwarded    %llu queued, %llu before computed ones, %llu dropped\n",
	       ull(r->forwarded_queued), ull(r->forwarded_first), ull(r->forwarded_dropped));
	printf("  computed     %llu queued, %llu before forwarded ones, %llu dropped\n",
	       ull(r->computed_queued), ull(r->computed_first), ull(r->computed_dropped));
	printf("  others       %llu answers suppressed, %llu leases expired\n", ull(r->limited),
	       ull(r->expired));
}

static void switch_show(const struct inc_switch_view *v)
{
	const struct inc_switch_row *r = &v->row;
	char ip[IP_BYTES], used[16], most[16], up[16];

	if (v->silent) {
		printf("switch %s does not answer\n", inc_ip_format(v->ip, ip));
		return;
	}
	printf("switch %.*s at %s", INC_NAME_BYTES, r->name, inc_ip_format(v->ip, ip));
	for (unsigned i = 0; i < r->parent_count; i++)
		printf("%s %s", i ? " or" : ", below", inc_ip_format(r->parents[i], ip));
	printf("%s\n  computes in  %s, for %s\n", r->parent_count ? "" : ", no switch above",
	       inc_planes_text(r->planes), time_format(r->uptime_ms, up));
	printf("  groups       %u of %u, %s of %s\n", r->groups, r->groups_max,
	       nodes_bytes_format(r->memory_bytes, used), nodes_bytes_format(r->memory_max, most));
	counters_show(r);
}

void inc_switches_show(const struct inc_tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		switch_show(&t->switches[i]);
}

static void silent_show(const struct inc_switch_view *v)
{
	char ip[IP_BYTES];

	printf("%-15s  does not answer\n", inc_ip_format(v->ip, ip));
}

static void group_show(const struct inc_switch_view *v, const struct inc_group_row *g)
{
	char here[24], below[24], ip[IP_BYTES], parent[IP_BYTES] = "-", age[16], idle[16],
						slots[24];

	snprintf(here, sizeof(here), "%u/%u", g->children_here, g->children);
	snprintf(slots, sizeof(slots), "%u/%u", g->slots_busy, g->slots);
	snprintf(below, sizeof(below), "%08x.%u", g->id, g->epoch);
	if (g->parent_ip)
		inc_ip_format(g->parent_ip, parent);
	printf("%-15s %-14s %7u %8s %-15s %-5s %-6s %7s %7s %9s %10llu %10llu %8llu %8llu "
	       "%16llx %5u\n",
	       inc_ip_format(v->ip, ip), below, g->members, here, parent,
	       g->planes & INC_PLANE_KERNEL ? "XDP" : "user", inc_mode_text(g->master_num),
	       time_format(g->age_ms, age), time_format(g->idle_ms, idle), slots,
	       ull(g->contributions), ull(g->results), ull(g->repeats), ull(g->mismatches),
	       ull(g->job_id), g->world_rank);
}

void inc_groups_show(const struct inc_tree *t)
{
	printf("%-15s %-14s %7s %8s %-15s %-5s %-6s %7s %7s %9s %10s %10s %8s %8s %16s %5s\n",
	       "SWITCH", "GROUP", "MEMBERS", "CHILDREN", "ABOVE", "PLANE", "MODE", "AGE", "IDLE",
	       "SLOTS", "CONTRIB", "RESULTS", "REPEATS", "DISAGREE", "JOB", "RANK");
	for (size_t i = 0; i < t->count; i++) {
		const struct inc_switch_view *v = &t->switches[i];
		if (v->silent)
			silent_show(v);
		for (size_t k = 0; k < v->group_count; k++)
			group_show(v, &v->groups[k]);
	}
}

static void refusal_show(const struct inc_switch_view *v, const struct inc_refusal_row *r)
{
	char ip[IP_BYTES], last[IP_BYTES] = "-", ago[16], group[16] = "-";

	if (r->last_ip)
		inc_ip_format(r->last_ip, last);
	if (r->last_group && r->last_group != INC_COMM_CONTROL)
		snprintf(group, sizeof(group), "%08x", r->last_group);
	printf("%-15s %9llu %9s  %-15s %-8s  %s\n", inc_ip_format(v->ip, ip), ull(r->count),
	       time_format(r->last_ms_ago, ago), last, group, inc_refusal_text(r->cause));
}

void inc_refusals_show(const struct inc_tree *t)
{
	printf("%-15s %9s %9s  %-15s %-8s  %s\n", "SWITCH", "TIMES", "LAST, AGO", "BY", "GROUP",
	       "REASON");
	for (size_t i = 0; i < t->count; i++) {
		const struct inc_switch_view *v = &t->switches[i];
		if (v->silent)
			silent_show(v);
		for (size_t k = 0; k < v->refusal_count; k++)
			refusal_show(v, &v->refusals[k]);
	}
}
