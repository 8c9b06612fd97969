/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/services.h"

#include <string.h>

#include "base/util.h"
#include "cmd/dxp/metrics_text.h"

#define LINE_BYTES 512
#define NAME_BYTES 96

static const char *role_name(const struct service_view *v)
{
	return v->target.role == STATS_ROLE_MANAGER ? "manager" : "switch";
}

static const struct stats_value *value_find(const struct service_view *v, const char *name)
{
	for (unsigned i = 0; i < v->count; i++)
		if (strcmp(v->values[i].name, name) == 0)
			return &v->values[i];
	return NULL;
}

/* Appends the first value of the table, and all others that the service has and that are not 0. */
static void values_append(const struct service_view *v, char line[LINE_BYTES])
{
	static const char *const manager[] = {"nodes_alive", "nodes_dead", "grants",
					      "joined",      "died",       "busy",
					      "unauthentic", "key_unknown"};
	static const char *const aggregator[] = {"groups",         "received", "results",
						 "kernel_results", "repeats",  "refused",
						 "malformed"};
	const bool is_manager = v->target.role == STATS_ROLE_MANAGER;
	const char *const *names = is_manager ? manager : aggregator;
	const size_t count = is_manager ? ARRAY_COUNT(manager) : ARRAY_COUNT(aggregator);

	for (size_t i = 0; i < count; i++) {
		const struct stats_value *value = value_find(v, names[i]);
		const size_t used = strlen(line);
		if (value && (value->value || i == 0))
			snprintf(line + used, LINE_BYTES - used, "  %s %llu", names[i],
				 (unsigned long long)value->value);
	}
}

void services_table(FILE *out, const struct fabric_services *s, unsigned columns)
{
	char line[LINE_BYTES], address[UDP_ADDRESS_TEXT_BYTES];
	const int width = columns ? (int)columns : LINE_BYTES;

	snprintf(line, sizeof(line), "%-7s  %-16s %-22s %7s %9s  %s", "SERVICE", "NAME", "ADDRESS",
		 "PID", "UP s", "COUNTS SINCE ITS START");
	fprintf(out, "%.*s\n", width, line);
	for (size_t i = 0; i < s->count; i++) {
		const struct service_view *v = &s->views[i];
		address_format(&v->target.address, address);
		if (v->missing) {
			snprintf(line, sizeof(line), "%-7s  %-16s %-22s %s", role_name(v), "",
				 address, v->missing);
		} else {
			snprintf(line, sizeof(line), "%-7s  %-16s %-22s %7u %9.0f", role_name(v),
				 v->about.name, address, v->about.pid,
				 (double)v->about.up_ns / S_NS);
			values_append(v, line);
		}
		fprintf(out, "%.*s\n", width, line);
	}
}

/* ---- JSON ---- */

static json_t *neighbours_json(const struct service_view *v, unsigned begin, unsigned end)
{
	json_t *out = json_array();

	for (unsigned i = begin; i < end; i++) {
		const uint32_t ip = v->neighbours[i];
		json_array_append_new(out, json_sprintf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255,
							ip >> 8 & 255, ip & 255));
	}
	return out;
}

static json_t *service_json(const struct service_view *v)
{
	char address[UDP_ADDRESS_TEXT_BYTES];
	json_t *out = json_pack("{s:s, s:s}", "role", role_name(v), "address",
				address_format(&v->target.address, address));

	if (v->missing) {
		json_object_set_new(out, "missing", json_string(v->missing));
		return out;
	}
	json_t *values = json_object();
	for (unsigned i = 0; i < v->count; i++)
		json_object_set_new(values, v->values[i].name,
				    json_integer((json_int_t)v->values[i].value));
	json_object_set_new(out, "name", json_string(v->about.name));
	json_object_set_new(out, "program", json_string(v->about.program));
	json_object_set_new(out, "pid", json_integer(v->about.pid));
	json_object_set_new(out, "up_ns", json_integer((json_int_t)v->about.up_ns));
	json_object_set_new(out, "counters", values);
	if (v->target.role == STATS_ROLE_SWITCH) {
		json_object_set_new(out, "parents", neighbours_json(v, 0, v->above));
		json_object_set_new(out, "children",
				    neighbours_json(v, v->above, v->neighbour_count));
	}
	return out;
}

json_t *services_json(const struct fabric_services *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(all, service_json(&s->views[i]));
	return all;
}

/* ---- metrics ---- */

static void series_begin(FILE *out, const char *name, bool counter, const struct service_view *v)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	fprintf(out, "%s%s{service=\"%s\",address=\"%s\"}", name, counter ? "_total" : "",
		role_name(v), address_format(&v->target.address, address));
}

/* Returns whether the family of a value of service i is printed already: an earlier service of the
 * same role has the value, or this one has it twice. */
static bool printed(const struct fabric_services *s, size_t i, const struct stats_value *value)
{
	for (size_t k = 0; k < i; k++)
		if (s->views[k].target.role == s->views[i].target.role &&
		    value_find(&s->views[k], value->name))
			return true;
	return value_find(&s->views[i], value->name) != value;
}

/* Prints the family of a value, with all services of this role that have it. */
static void family_print(FILE *out, const struct fabric_services *s, size_t i,
			 const struct stats_value *value, bool open)
{
	const uint8_t role = s->views[i].target.role;
	char name[NAME_BYTES], help[NAME_BYTES];

	snprintf(name, sizeof(name), "dxp_%s_%s", role_name(&s->views[i]), value->name);
	snprintf(help, sizeof(help), "%s of the %s", value->name, role_name(&s->views[i]));
	metrics_text_family(out, name, !value->level, help, open);
	for (size_t k = i; k < s->count; k++) {
		const struct service_view *v = &s->views[k];
		const struct stats_value *same =
			v->target.role == role ? value_find(v, value->name) : NULL;
		if (!same || same->level != value->level)
			continue;
		series_begin(out, name, !value->level, v);
		fprintf(out, " %llu\n", (unsigned long long)same->value);
	}
}

void services_metrics(FILE *out, const struct fabric_services *s, bool open)
{
	static const char up[] = "dxp_service_up", uptime[] = "dxp_service_uptime_seconds";

	metrics_text_family(out, up, false, "1 if the service gave its counters, otherwise 0",
			    open);
	for (size_t i = 0; i < s->count; i++) {
		series_begin(out, up, false, &s->views[i]);
		fprintf(out, " %d\n", !s->views[i].missing);
	}
	metrics_text_family(out, uptime, false, "time since the start of the service", open);
	for (size_t i = 0; i < s->count; i++) {
		if (s->views[i].missing)
			continue;
		series_begin(out, uptime, false, &s->views[i]);
		fprintf(out, " %.3f\n", (double)s->views[i].about.up_ns / S_NS);
	}
	for (size_t i = 0; i < s->count; i++)
		for (unsigned k = 0; k < s->views[i].count; k++)
			if (!printed(s, i, &s->views[i].values[k]))
				family_print(out, s, i, &s->views[i].values[k], open);
}
