/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/metrics_text.h"

#include <string.h>

#include "base/util.h"

#define NAME_BYTES 96

struct metrics_text {
	FILE *out;
	const struct stats_list *nodes;
	bool open; /* writes OpenMetrics, otherwise the older text format */
};

void metrics_text_family(FILE *out, const char *name, bool counter, const char *help, bool open)
{
	/* OpenMetrics declares a counter without its suffix. */
	const char *suffix = counter && !open ? "_total" : "";

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
		counter ? "counter" : "gauge");
}

static void family_begin(const struct metrics_text *m, const char *name, bool counter,
			 const char *help)
{
	metrics_text_family(m->out, name, counter, help, m->open);
}

static void label_print(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++)
		fprintf(out, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
	fputc('"', out);
}

/* Prints a name with the labels of the node, without the closing brace. */
static void series_begin(const struct metrics_text *m, const char *name, bool counter,
			 const struct stats_view *v)
{
	fprintf(m->out, "%s%s{", name, counter ? "_total" : "");
	label_print(m->out, "node", v->node.name);
	fputc(',', m->out);
	label_print(m->out, "address", v->node.address);
}

typedef uint64_t (*value_fn)(const struct stats_node *n, unsigned field);

static uint64_t node_value(const struct stats_node *n, unsigned field)
{
	return n->values[field];
}

static uint64_t total_value(const struct stats_node *n, unsigned field)
{
	return n->totals[field];
}

static void values_print(const struct metrics_text *m, const char *name, bool counter,
			 value_fn value, unsigned field)
{
	char help[NAME_BYTES];

	snprintf(help, sizeof(help), "%s of the node", name + sizeof("dxp_") - 1);
	for (char *p = help; *p; p++)
		*p = (char)(*p == '_' ? ' ' : *p);
	family_begin(m, name, counter, help);
	for (uint32_t i = 0; i < m->nodes->count; i++) {
		const struct stats_view *v = &m->nodes->views[i];
		if (v->missing)
			continue;
		series_begin(m, name, counter, v);
		fprintf(m->out, "} %llu\n", (unsigned long long)value(&v->node, field));
	}
}

/* Returns the prefix of a node's field, by the list that the field is in. The names of the last
 * list already contain one. */
static const char *node_prefix(unsigned field)
{
	if (field < STATS_LINK_malformed)
		return "link_";
	if (field < STATS_NIC_doorbells)
		return "endpoint_";
	return field < STATS_SERVE_stats_answered ? "nic_" : "";
}

static void node_fields_print(const struct metrics_text *m)
{
	char name[NAME_BYTES];

	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++) {
		/* the field's name ends in "us", which would read as the unit microseconds */
		snprintf(name, sizeof(name), "dxp_%s%s", node_prefix(i),
			 i == STATS_LINK_not_for_us ? "misaddressed" : stats_node_name(i));
		values_print(m, name, true, node_value, i);
	}
}

/* Prints all retransmissions as one family, with a label for the cause. */
static void retransmitted_print(const struct metrics_text *m)
{
	static const struct {
		const char *cause;
		unsigned field;
	} causes[] = {
		{"gap", STATS_SESSION_retransmitted_gap},
		{"probe", STATS_SESSION_retransmitted_probe},
		{"timeout", STATS_SESSION_retransmitted_timeout},
		{"busy", STATS_SESSION_retransmitted_busy},
	};
	static const char name[] = "dxp_session_retransmitted_packets";

	family_begin(m, name, true, "retransmitted packets of all sessions, by cause");
	for (uint32_t i = 0; i < m->nodes->count; i++) {
		const struct stats_view *v = &m->nodes->views[i];
		for (unsigned k = 0; !v->missing && k < ARRAY_COUNT(causes); k++) {
			series_begin(m, name, true, v);
			fprintf(m->out, ",cause=\"%s\"} %llu\n", causes[k].cause,
				(unsigned long long)v->node.totals[causes[k].field]);
		}
	}
}

static void session_fields_print(const struct metrics_text *m)
{
	char name[NAME_BYTES];

	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++) {
		const char *field = stats_session_name(i);
		if (!stats_session_counts(i) || strncmp(field, "retransmitted_", 14) == 0)
			continue;
		snprintf(name, sizeof(name), "dxp_session_%s", field);
		values_print(m, name, true, total_value, i);
	}
	retransmitted_print(m);
	values_print(m, "dxp_sessions_open", false, total_value, STATS_SESSION_open);
	values_print(m, "dxp_packets_inflight", false, total_value, STATS_SESSION_inflight);
	values_print(m, "dxp_packets_lost", false, total_value, STATS_SESSION_lost);
	values_print(m, "dxp_packets_waiting", false, total_value, STATS_SESSION_waiting);
}

static void up_print(const struct metrics_text *m)
{
	family_begin(m, "dxp_node_up", false, "1 if the node gave its counters, otherwise 0");
	for (uint32_t i = 0; i < m->nodes->count; i++) {
		series_begin(m, "dxp_node_up", false, &m->nodes->views[i]);
		fprintf(m->out, "} %d\n", !m->nodes->views[i].missing);
	}
}

static double uptime_s(const struct stats_view *v)
{
	return (double)(v->node.published_ns - v->node.started_ns + v->age_ns) / S_NS;
}

static void uptime_print(const struct metrics_text *m)
{
	static const char name[] = "dxp_node_uptime_seconds";

	family_begin(m, name, false, "time since the start of the node");
	for (uint32_t i = 0; i < m->nodes->count; i++) {
		if (m->nodes->views[i].missing)
			continue;
		series_begin(m, name, false, &m->nodes->views[i]);
		fprintf(m->out, "} %.3f\n", uptime_s(&m->nodes->views[i]));
	}
}

void metrics_text_write(FILE *out, const struct stats_list *nodes, bool open)
{
	const struct metrics_text m = {.out = out, .nodes = nodes, .open = open};

	up_print(&m);
	uptime_print(&m);
	node_fields_print(&m);
	session_fields_print(&m);
}

void metrics_text_gauge(FILE *out, const char *name, double value, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.6g\n", name, help, name, name, value);
}
