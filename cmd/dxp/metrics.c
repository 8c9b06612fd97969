/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp metrics`: prints the counters of nodes once, as OpenMetrics or in the older text
 * format of Prometheus. Each node has the same number of series: sessions and queue pairs are only
 * in the totals, so that the number of series grows with the nodes and not with their square. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/program.h"
#include "base/util.h"
#include "cmd/dxp/choice.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/session.h"

#define NAME_BYTES 96

struct metrics {
	struct session_options session;
	struct fabric_stats source;
	const char *format;
	bool fabric, open; /* open: OpenMetrics */
	struct stats_list nodes;
};

/* Prints HELP and TYPE. OpenMetrics declares a counter without its suffix "_total". */
static void family_begin(const struct metrics *m, const char *name, bool counter, const char *help)
{
	const char *suffix = counter && !m->open ? "_total" : "";

	printf("# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
	       counter ? "counter" : "gauge");
}

static void label_print(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (; *value; value++)
		printf(*value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
	putchar('"');
}

/* Prints a name with the labels of the node, without the closing brace. */
static void series_begin(const char *name, bool counter, const struct stats_view *v)
{
	printf("%s%s{", name, counter ? "_total" : "");
	label_print("node", v->node.name);
	putchar(',');
	label_print("address", v->node.address);
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

static void values_print(const struct metrics *m, const char *name, bool counter, value_fn value,
			 unsigned field)
{
	char help[NAME_BYTES];

	snprintf(help, sizeof(help), "%s of the node", name + sizeof("dxp_") - 1);
	for (char *p = help; *p; p++)
		*p = (char)(*p == '_' ? ' ' : *p);
	family_begin(m, name, counter, help);
	for (uint32_t i = 0; i < m->nodes.count; i++) {
		const struct stats_view *v = &m->nodes.views[i];
		if (v->missing)
			continue;
		series_begin(name, counter, v);
		printf("} %llu\n", (unsigned long long)value(&v->node, field));
	}
}

/* Returns the first part of a field's name; "" for the last list, whose names are complete. */
static const char *node_prefix(unsigned field)
{
	if (field < STATS_LINK_malformed)
		return "link_";
	if (field < STATS_NIC_doorbells)
		return "endpoint_";
	return field < STATS_SERVE_stats_answered ? "nic_" : "";
}

static void node_fields_print(const struct metrics *m)
{
	char name[NAME_BYTES];

	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++) {
		/* "us" in a name would be a unit. */
		snprintf(name, sizeof(name), "dxp_%s%s", node_prefix(i),
			 i == STATS_LINK_not_for_us ? "misaddressed" : stats_node_name(i));
		values_print(m, name, true, node_value, i);
	}
}

/* One family with a label for the cause. */
static void retransmitted_print(const struct metrics *m)
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
	for (uint32_t i = 0; i < m->nodes.count; i++) {
		const struct stats_view *v = &m->nodes.views[i];
		for (unsigned k = 0; !v->missing && k < ARRAY_COUNT(causes); k++) {
			series_begin(name, true, v);
			printf(",cause=\"%s\"} %llu\n", causes[k].cause,
			       (unsigned long long)v->node.totals[causes[k].field]);
		}
	}
}

static void session_fields_print(const struct metrics *m)
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

static void up_print(const struct metrics *m)
{
	family_begin(m, "dxp_node_up", false, "1 if the node gave its counters, otherwise 0");
	for (uint32_t i = 0; i < m->nodes.count; i++) {
		series_begin("dxp_node_up", false, &m->nodes.views[i]);
		printf("} %d\n", !m->nodes.views[i].missing);
	}
}

static double uptime_s(const struct stats_view *v)
{
	return (double)(v->node.published_ns - v->node.started_ns + v->age_ns) / S_NS;
}

static void uptime_print(const struct metrics *m)
{
	static const char name[] = "dxp_node_uptime_seconds";

	family_begin(m, name, false, "time since the start of the node");
	for (uint32_t i = 0; i < m->nodes.count; i++) {
		if (m->nodes.views[i].missing)
			continue;
		series_begin(name, false, &m->nodes.views[i]);
		printf("} %.3f\n", uptime_s(&m->nodes.views[i]));
	}
}

/* Removes nodes with the labels of an earlier node. A node of another network namespace may have
 * the same labels. */
static void repeated_remove(struct stats_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		struct stats_view *v = &list->views[i];
		uint32_t k = 0;
		while (k < count && (strcmp(list->views[k].node.name, v->node.name) != 0 ||
				     strcmp(list->views[k].node.address, v->node.address) != 0))
			k++;
		if (k == count) {
			struct stats_view moved = *v;
			list->views[count++] = moved;
			continue;
		}
		fprintf(stderr, "dxp: %s is ignored: another node has its name and address\n",
			v->path);
		free(v->sessions);
	}
	list->count = count;
}

static int nodes_read(struct metrics *m)
{
	if (m->fabric)
		return fabric_stats_all(&m->source, &m->nodes);
	snprintf(m->source.text, sizeof(m->source.text), "out of memory");
	int status = stats_read(&m->nodes, choice_complain, NULL);
	if (status == DXP_OK)
		repeated_remove(&m->nodes);
	return status;
}

static int metrics_print(struct metrics *m)
{
	if (nodes_read(m) != DXP_OK)
		return print_fail("%s", m->source.text);
	up_print(m);
	uptime_print(m);
	node_fields_print(m);
	session_fields_print(m);
	if (m->open)
		puts("# EOF");
	stats_list_free(&m->nodes);
	return program_output_check() ? EXIT_DONE : EXIT_FAILED;
}

int command_metrics(int argc, char **argv)
{
	struct metrics m = {.format = "openmetrics"};
	const struct option_row rows[] = {
		{"fabric", NULL, "all nodes of the fabric, over the network", OPTION_FLAG,
		 &m.fabric, 0, 0},
		{"format", "NAME", "openmetrics or prometheus (default openmetrics)", OPTION_TEXT,
		 &m.format, 0, 0},
		MANAGER_ROWS(m.session),
		BIND_ROW(m.session),
	};
	const struct usage usage = {
		"metrics",
		"",
		"Prints the counters of the nodes on this machine once, for Prometheus: as "
		"OpenMetrics, or with --format prometheus\n"
		"in the text format that the textfile collector of node_exporter reads.\n"
		"With --fabric, prints those of all nodes of the fabric; dxp_node_up is 0 for one "
		"that does not answer.",
		rows,
		ARRAY_COUNT(rows),
		0,
		0};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	m.source.fabric = &m.session.fabric;
	m.open = strcmp(m.format, "openmetrics") == 0;
	if (!m.open && strcmp(m.format, "prometheus") != 0) {
		print_fail("--format is openmetrics or prometheus, not '%s'", m.format);
		return EXIT_USAGE;
	}
	return metrics_print(&m);
}
