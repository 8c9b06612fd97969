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
#include "cmd/dxp/session.h"
#include "wire/probe.h"

#define COLUMNS_MAX  12          /* nodes of the matrix: as many as fit a line of 120 characters */
#define LOSSY_SENT   20          /* short probes from which on loss is judged */
#define LOSSY_SHARE  20          /* lossy: more than 1/20 of the probes lost */
#define SLOW_FACTOR  8           /* slow: this many times the median of all paths ... */
#define SLOW_NS      (1 * MS_NS) /* ... and slower than this */
#define HEADER_BYTES 28          /* of IPv4 and UDP */

/* All paths, sorted by sender and peer. */
struct paths {
	const struct node_entry *nodes;
	size_t count;
	struct stats_list list; /* a view for each node */
	uint64_t median_ns;     /* of the shortest round trips; 0: none is known */
};

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool median_set(struct paths *p)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->list.count; i++)
		count += p->list.views[i].path_count;
	uint64_t *all = malloc((count + 1) * sizeof(*all));
	if (!all)
		return false;
	count = 0;
	for (uint32_t i = 0; i < p->list.count; i++)
		for (uint32_t k = 0; k < p->list.views[i].path_count; k++)
			if (p->list.views[i].paths[k].min_rtt_ns)
				all[count++] = p->list.views[i].paths[k].min_rtt_ns;
	qsort(all, count, sizeof(*all), by_value);
	p->median_ns = count ? all[count / 2] : 0;
	free(all);
	return true;
}

/* Returns what is wrong with a path, or NULL. */
static const char *verdict(const struct paths *p, const struct stats_path *path)
{
	const uint64_t lost = path->sent - min_u64(path->sent, path->answered);

	if (path->state == STATS_PATH_BLOCKED)
		return "blocked";
	if (path->sent >= LOSSY_SENT && lost * LOSSY_SHARE > path->sent)
		return "lossy";
	if (path->min_rtt_ns > SLOW_NS && path->min_rtt_ns > SLOW_FACTOR * p->median_ns)
		return "slow";
	if (path->answered_bytes && path->answered_bytes < path->limit_bytes)
		return "short";
	return NULL;
}

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
			const char *bad = verdict(p, path);
			const char *good = path->state == STATS_PATH_OPEN ? "open" : "unknown";
			const uint64_t lost = path->sent - min_u64(path->sent, path->answered);
			const uint64_t mtu =
				path->answered_bytes ? path->answered_bytes + HEADER_BYTES : 0;
			printf("%-16s %-16s %-8s %8.0f %8.0f %6llu %6llu %8llu\n", p->nodes[i].name,
			       path->peer, bad ? bad : good, (double)path->srtt_ns / US_NS,
			       (double)path->min_rtt_ns / US_NS, (unsigned long long)path->sent,
			       (unsigned long long)lost, (unsigned long long)mtu);
		}
	}
}

static void trouble_print(const struct paths *p, const char *from, const struct stats_path *path)
{
	const char *bad = verdict(p, path);

	printf("%s: %s -> %s: ", bad, from, path->peer);
	if (path->state == STATS_PATH_BLOCKED && path->age_ns == 0)
		printf("no answer yet; check %s with `dxp doctor --to %s`\n", path->peer,
		       path->peer);
	else if (path->state == STATS_PATH_BLOCKED)
		printf("the last answer is %.0f s old; check %s with `dxp doctor --to %s`\n",
		       (double)path->age_ns / S_NS, path->peer, path->peer);
	else if (strcmp(bad, "lossy") == 0)
		printf("%llu of the last %llu short probes are lost\n",
		       (unsigned long long)(path->sent - path->answered),
		       (unsigned long long)path->sent);
	else if (strcmp(bad, "slow") == 0)
		printf("at least %.0f us; the median of all paths is %.0f us\n",
		       (double)path->min_rtt_ns / US_NS, (double)p->median_ns / US_NS);
	else
		printf("packets of %llu bytes arrive, those of %llu, the interface's MTU, do not\n",
		       (unsigned long long)path->answered_bytes + HEADER_BYTES,
		       (unsigned long long)path->limit_bytes + HEADER_BYTES);
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
			if (!verdict(p, &v->paths[k]))
				continue;
			trouble_print(p, p->nodes[i].name, &v->paths[k]);
			good = false;
		}
	}
	if (good)
		puts("no measured path is blocked, lossy, slow or short");
}

/* ---- JSON ---- */

static json_t *path_json(const struct paths *p, size_t from, const struct stats_path *path)
{
	static const char *const states[] = {"unknown", "open", "blocked"};
	const char *bad = verdict(p, path);
	json_t *out = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "from", p->nodes[from].name, "to",
		path->peer, "state", states[path->state], "sent", (json_int_t)path->sent,
		"answered", (json_int_t)path->answered, "rtt_ns", (json_int_t)path->srtt_ns,
		"min_rtt_ns", (json_int_t)path->min_rtt_ns, "mtu_bytes",
		(json_int_t)(path->answered_bytes ? path->answered_bytes + HEADER_BYTES : 0),
		"interface_mtu_bytes", (json_int_t)(path->limit_bytes + HEADER_BYTES));

	if (path->age_ns)
		json_object_set_new(out, "answer_age_ns", json_integer((json_int_t)path->age_ns));
	if (bad)
		json_object_set_new(out, "verdict", json_string(bad));
	return out;
}

static int json_print(const struct paths *p)
{
	json_t *paths = json_array(), *missing = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const struct stats_view *v = &p->list.views[i];
		if (v->missing)
			json_array_append_new(missing,
					      json_pack("{s:s, s:s}", "from", p->nodes[i].name,
							"why", v->missing));
		for (uint32_t k = 0; k < v->path_count; k++)
			json_array_append_new(paths, path_json(p, i, &v->paths[k]));
	}
	return print_json_text(json_pack("{s:o, s:o}", "paths", paths, "missing", missing));
}

/* ---- command ---- */

static int show(const struct session_options *o, struct paths *p, bool list)
{
	struct fabric_stats source = {.fabric = &o->fabric, .paths = true};

	if (fabric_stats_read(&source, p->nodes, p->count, &p->list) != DXP_OK)
		return print_fail("%s", source.text);
	int status = EXIT_DONE;
	if (!median_set(p)) {
		status = print_fail("out of memory");
	} else if (o->json) {
		status = json_print(p);
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
		"paths",
		"",
		"Shows the paths between nodes that a grant connects: round trip, loss, MTU. Each "
		"node measures its peers in the\n"
		"background by one packet a second, at most 64 peers at a time. Below the matrix, "
		"each path that is blocked, lossy,\n"
		"slow or short has a line. A program that does not poll, because it computes or is "
		"stopped, answers no probe either.",
		rows,
		ARRAY_COUNT(rows),
		0,
		0};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	paths.count = query_nodes(a, &paths.nodes);
	int status = paths.count ? show(&o, &paths, list)
				 : print_fail("the fabric has no nodes; start some with `dxpd`");
	query_destroy(a);
	return status;
}
