/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the state of switches to JSON. */
#include <stdio.h>

#include "cmd/dxp/inc.h"

static void set_number(json_t *o, const char *name, uint64_t value)
{
	json_object_set_new(o, name, json_integer((json_int_t)value));
}

static void set_ip(json_t *o, const char *name, uint32_t ip)
{
	char text[IP_BYTES];

	json_object_set_new(o, name, ip ? json_string(inc_ip_format(ip, text)) : json_null());
}

static json_t *planes_json(unsigned planes)
{
	json_t *all = json_array();

	if (planes & INC_PLANE_USER)
		json_array_append_new(all, json_string("user"));
	if (planes & INC_PLANE_KERNEL)
		json_array_append_new(all, json_string("kernel"));
	return all;
}

static void self_set(json_t *o, const struct inc_switch_row *r)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"groups", r->groups},
		{"groups_max", r->groups_max},
		{"memory_bytes", r->memory_bytes},
		{"memory_max", r->memory_max},
		{"uptime_ms", r->uptime_ms},
		{"received", r->received},
		{"sent", r->sent},
		{"contributions", r->contributions},
		{"results", r->results},
		{"repeats", r->repeats},
		{"duplicates", r->duplicates},
		{"stale", r->stale},
		{"foreign", r->foreign},
		{"malformed", r->malformed},
		{"icrc_wrong", r->icrc_wrong},
		{"refused", r->refused},
		{"kernel_contributions", r->kernel_contributions},
		{"kernel_results", r->kernel_results},
		{"kernel_passed", r->kernel_passed},
		{"limited", r->limited},
		{"expired", r->expired},
		{"forwarded_queued", r->forwarded_queued},
		{"computed_queued", r->computed_queued},
		{"forwarded_first", r->forwarded_first},
		{"computed_first", r->computed_first},
		{"forwarded_dropped", r->forwarded_dropped},
		{"computed_dropped", r->computed_dropped},
	};
	json_t *parents = json_array();
	char ip[IP_BYTES];

	json_object_set_new(o, "name", json_stringn(r->name, strnlen(r->name, INC_NAME_BYTES)));
	json_object_set_new(o, "planes", planes_json(r->planes));
	for (unsigned i = 0; i < r->parent_count; i++)
		json_array_append_new(parents, json_string(inc_ip_format(r->parents[i], ip)));
	json_object_set_new(o, "parents", parents);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		set_number(o, numbers[i].name, numbers[i].value);
}

static json_t *group_json(const struct inc_group_row *g)
{
	json_t *o = json_object();
	char id[16], job[24];

	snprintf(id, sizeof(id), "%08x", g->id);
	snprintf(job, sizeof(job), "%llx", (unsigned long long)g->job_id);
	json_object_set_new(o, "id", json_string(id));
	set_number(o, "epoch", g->epoch);
	set_number(o, "members", g->members);
	set_number(o, "children", g->children);
	set_number(o, "children_here", g->children_here);
	set_ip(o, "above", g->parent_ip);
	json_object_set_new(o, "planes", planes_json(g->planes));
	json_object_set_new(o, "mode", json_string(inc_mode_text(g->master_num)));
	json_object_set_new(o, "job", json_string(job));
	set_number(o, "world_rank", g->world_rank);
	set_number(o, "age_ms", g->age_ms);
	set_number(o, "idle_ms", g->idle_ms);
	set_number(o, "lease_ms", g->lease_ms);
	set_number(o, "slots", g->slots);
	set_number(o, "slots_busy", g->slots_busy);
	set_number(o, "contributions", g->contributions);
	set_number(o, "results", g->results);
	set_number(o, "repeats", g->repeats);
	set_number(o, "mismatches", g->mismatches);
	return o;
}

static json_t *refusal_json(const struct inc_refusal_row *r)
{
	json_t *o = json_object();
	char group[16];

	snprintf(group, sizeof(group), "%08x", r->last_group);
	set_number(o, "cause", r->cause);
	json_object_set_new(o, "why", json_string(inc_refusal_text(r->cause)));
	set_number(o, "times", r->count);
	set_number(o, "last_ms_ago", r->last_ms_ago);
	set_ip(o, "last_by", r->last_ip);
	json_object_set_new(o, "last_group", json_string(group));
	return o;
}

static void rows_set(json_t *o, const struct inc_switch_view *v, enum inc_section section)
{
	json_t *rows = json_array();

	if (section == INC_SECTION_GROUPS) {
		for (size_t i = 0; i < v->group_count; i++)
			json_array_append_new(rows, group_json(&v->groups[i]));
		json_object_set_new(o, "group_rows", rows);
	} else if (section == INC_SECTION_REFUSALS) {
		for (size_t i = 0; i < v->refusal_count; i++)
			json_array_append_new(rows, refusal_json(&v->refusals[i]));
		json_object_set_new(o, "refusal_rows", rows);
	} else {
		json_decref(rows);
	}
}

json_t *inc_tree_json(const struct inc_tree *t, enum inc_section section)
{
	json_t *all = json_array();

	for (size_t i = 0; i < t->count; i++) {
		const struct inc_switch_view *v = &t->switches[i];
		json_t *o = json_object();
		set_ip(o, "address", v->ip);
		set_number(o, "above", v->above);
		json_object_set_new(o, "answers", json_boolean(!v->silent));
		if (!v->silent) {
			self_set(o, &v->row);
			rows_set(o, v, section);
		}
		json_array_append_new(all, o);
	}
	return all;
}
