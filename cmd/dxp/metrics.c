/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp metrics`: prints the counters of nodes once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/program.h"
#include "base/util.h"
#include "cmd/dxp/choice.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/metrics_text.h"
#include "cmd/dxp/services.h"
#include "cmd/dxp/session.h"

struct metrics {
	struct session_options session;
	struct fabric_stats source;
	const char *format;
	bool fabric, open; /* open: true: prints OpenMetrics */
	struct option_list switches;
	struct stats_list nodes;
	struct fabric_services services;
};

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
	if (m->fabric) {
		int status = fabric_stats_all(&m->source, &m->nodes);
		return status == DXP_OK ? fabric_services_read(&m->source, m->switches.values,
							       m->switches.count, &m->services)
					: status;
	}
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
	metrics_text_write(stdout, &m->nodes, m->open);
	if (m->fabric)
		services_metrics(stdout, &m->services, m->open);
	if (m->open)
		puts("# EOF");
	stats_list_free(&m->nodes);
	fabric_services_free(&m->services);
	return program_output_check() ? EXIT_DONE : EXIT_FAILED;
}

int command_metrics(int argc, char **argv)
{
	struct metrics m = {.format = "openmetrics"};
	const struct option_row rows[] = {
		{"fabric", NULL, "all nodes of the fabric and its manager, over the network",
		 OPTION_FLAG, &m.fabric, 0, 0},
		SWITCH_ROW(m.switches),
		{"format", "NAME", "openmetrics or prometheus (default openmetrics)", OPTION_TEXT,
		 &m.format, 0, 0},
		MANAGER_ROWS(m.session),
		BIND_ROW(m.session),
	};
	const struct usage usage = {
		"metrics", "",
		"Prints the counters of the nodes on this machine once, for Prometheus: as "
		"OpenMetrics, or with --format prometheus\n"
		"in the text format that the textfile collector of node_exporter reads.\n"
		"With --fabric, prints those of all nodes of the fabric, of its manager, and of "
		"the switches of --switch with those above and below;\n"
		"dxp_node_up or dxp_service_up is 0 for one that does not answer.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (m.switches.count && !m.fabric) {
		print_fail("--switch needs --fabric");
		return EXIT_USAGE;
	}
	m.source.fabric = &m.session.fabric;
	m.open = strcmp(m.format, "openmetrics") == 0;
	if (!m.open && strcmp(m.format, "prometheus") != 0) {
		print_fail("--format is openmetrics or prometheus, not '%s'", m.format);
		return EXIT_USAGE;
	}
	return metrics_print(&m);
}
