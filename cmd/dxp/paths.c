/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp paths`: shows what nodes measured of the paths between them, and names paths that
 * are blocked, lossy, slow or short. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/paths.h"
#include "cmd/dxp/session.h"
#include "wire/probe.h"

#define COLUMNS_MAX 12 /* nodes of the matrix: as many as fit a line of 120 characters */

static const struct stats_path *path_find(const struct stats_view *v, uint16_t to)
{
	for (uint32_t i = 0; i < v->path_count; i++)
		if (v->paths[i].node == to)
			return &v->paths[i];
	return NULL;
}

/* ---- text ---- */

static void rtt_print(const struct stats_path *path)
{
	if (!path || path->state == STATS_PATH_UNKNOWN)
		printf(" %8s", "-");
	else if (path->state == STATS_PATH_BLOCKED)
		printf(" %8s", "BLOCKED");
	else
		printf(" %8.0f", (double)path->srtt_ns / US_NS);
}

static void matrix_print(const struct paths *p)
{
	printf("%-16s", "RTT us  FROM\\TO");
	for (size_t i = 0; i < p->count; i++)
		printf(" %8.8s", p->nodes[i].name);
	putchar('\n');
	for (size_t i = 0; i < p->count; i++) {
		printf("%-16.16s", p->nodes[i].name);
		for (size_t k = 0; k < p->count; k++)
			rtt_print(path_find(&p->list.views[i], p->nodes[k].id));
		putchar('\n');
	}
}

static void list_print(const struct paths *p)
{
	printf("%-16s %-16s %-8s %8s %8s %6s %6s %8s\n", "FROM", "TO", "STATE", "RTT us", "MIN us",
	       "SENT", "LOST", "MTU");
	for (size_t i = 0; i < p->count; i++) {
		const struct stats_view *v = &p->list.views[i];
		for (uint32_t k = 0; k < v->path_count; k++) {
			const struct stats_path *path = &v->paths[k];
			const char *bad = paths_verdict(p, path);
			const char *good = path->state == STATS_PATH_OPEN ? "open" : "unknown";
			const uint64_t lost = path->sent - min_u64(path->sent, path->answered);
			const uint64_t mtu =
				path->answered_bytes ? path->answered_bytes + PATH_HEADER_BYTES : 0;
			printf("%-16s %-16s %-8s %8.0f %8.0f %6llu %6llu %8llu\n", p->nodes[i].name,
			       path->peer, bad ? bad : good, (double)path->srtt_ns / US_NS,
			       (double)path->min_rtt_ns / US_NS, (unsigned long long)path->sent,
			       (unsigned long long)lost, (unsigned long long)mtu);
		}
	}
}

static void trouble_print(const struct paths *p, const char *from, const struct stats_path *path)
{
	char text[PATH_TEXT_BYTES];

	paths_trouble(p, path, text, sizeof(text));
	printf("%s: %s -> %s: %s\n", paths_verdict(p, path), from, path->peer, text);
}

/* Names all paths that are in trouble, and nodes that gave no measurements. */
static void troubles_print(const struct paths *p)
{
	bool good = true;

	for (size_t i = 0; i < p->count; i++) {
		const struct stats_view *v = &p->list.views[i];
		if (v->missing) {
			printf("unknown: paths from %s: %s\n", p->nodes[i].name, v->missing);
			good = false;
		}
		for (uint32_t k = 0; k < v->path_count; k++) {
			if (!paths_verdict(p, &v->paths[k]))
				continue;
			trouble_print(p, p->nodes[i].name, &v->paths[k]);
			good = false;
		}
	}
	if (good)
		puts("no measured path is blocked, lossy, slow or short");
}

/* ---- command ---- */

static int show(const struct session_options *o, struct paths *p, bool list)
{
	struct fabric_stats source = {.fabric = &o->fabric, .paths = true};

	if (fabric_stats_read(&source, p->nodes, p->count, &p->list) != DXP_OK)
		return print_fail("%s", source.text);
	int status = EXIT_DONE;
	if (!paths_judge(p)) {
		status = print_fail("out of memory");
	} else if (o->json) {
		status = print_json_text(paths_json(p));
	} else {
		if (list || p->count > COLUMNS_MAX)
			list_print(p);
		else
			matrix_print(p);
		troubles_print(p);
	}
	stats_list_free(&p->list);
	return status;
}

int command_paths(int argc, char **argv)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = QUERY_NODES};
	struct paths paths = {0};
	struct query *a;
	bool list = false;
	const struct option_row rows[] = {
		MANAGER_ROWS(o),
		BIND_ROW(o),
		{"list", NULL, "print a line for each path, in place of a matrix", OPTION_FLAG,
		 &list, 0, 0},
		JSON_ROW(o.json),
	};
	const struct usage usage = {
		"paths", "",
		"Shows the paths between nodes that a grant connects: round trip, loss, MTU. Each "
		"node measures its peers in the\n"
		"background by one packet a second, at most 64 peers at a time. Below the matrix, "
		"each path that is blocked, lossy,\n"
		"slow or short has a line. A program that does not poll, because it computes or is "
		"stopped, answers no probe either.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	paths.count = query_nodes(a, &paths.nodes);
	int status = paths.count ? show(&o, &paths, list)
				 : print_fail("the fabric has no nodes; start some with `dxpd`");
	query_destroy(a);
	return status;
}
