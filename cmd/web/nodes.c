/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the node table from the manager and the counters from all nodes, as `dxp top --fabric`
 * does. If the manager is silent, reads the nodes of the last table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/top.h"
#include "cmd/web/poller.h"
#include "cmd/web/sources.h"

/* ns; time to wait for the manager: if it answered the last time, and if it did not. The waits are
 * short, so that the nodes are read in time too. */
#define MANAGER_NS (1000 * MS_NS)
#define SILENT_NS  (300 * MS_NS)

/* Reads the node table. On failure, keeps the previous table and writes the reason to `text`. */
static void table_read(struct web_nodes *n, char *text, size_t text_bytes)
{
	struct inquiry q = {.fabric = n->fabric,
			    .kind = QUERY_NODES,
			    .timeout_ns = n->manager_up ? MANAGER_NS : SILENT_NS};
	const struct node_entry *rows;
	struct query *a;

	n->manager_up = inquiry_run(&q, &a) == DXP_OK;
	if (!n->manager_up) {
		snprintf(text, text_bytes, "%.250s", q.text);
		return;
	}
	const size_t count = query_nodes(a, &rows);
	struct node_entry *copy = calloc(count + 1, sizeof(*copy));
	if (copy) {
		if (count)
			memcpy(copy, rows, count * sizeof(*copy));
		free(n->rows);
		n->rows = copy;
		n->count = count;
	}
	query_destroy(a);
}

/* Reads sessions and queue pairs of the nodes that a browser shows. Skips silent nodes, since each
 * would cost a timeout of one second. */
static void details_read(struct web_nodes *n, const struct web_snapshot *s)
{
	struct fabric_stats source = {.fabric = n->fabric, .details = true};
	char names[WEB_WATCHED][FABRIC_NAME_BYTES];
	struct node_entry rows[WEB_WATCHED];
	struct stats_list list;
	size_t count = 0;
	const unsigned wanted = web_state_watched(n->state, names, clock_now_ns());

	for (unsigned i = 0; i < wanted; i++) {
		const struct web_node *node = web_snapshot_find(s, names[i]);
		if (node && node->health == WEB_ALIVE)
			rows[count++] = node->entry;
	}
	if (count == 0 || fabric_stats_read(&source, rows, count, &list) != DXP_OK)
		return;
	for (size_t i = 0; i < count; i++)
		if (!list.views[i].missing)
			web_state_detail(n->state, rows[i].name,
					 web_text_json(top_node_json(&list.views[i])));
	stats_list_free(&list);
}

void web_nodes_poll(void *context)
{
	struct web_nodes *n = context;
	struct fabric_stats source = {.fabric = n->fabric};
	const uint64_t begin_ns = clock_now_ns();
	struct web_snapshot *previous = web_state_snapshot(n->state), *s = NULL;
	char manager_text[sizeof(s->manager_text)] = "";
	struct stats_list list = {0};

	table_read(n, manager_text, sizeof(manager_text));
	if (fabric_stats_read(&source, n->rows, n->count, &list) == DXP_OK)
		s = web_snapshot_create(n->rows, n->count, &list, previous);
	web_snapshot_release(previous);
	if (!s) {
		stats_list_free(&list);
		return;
	}
	s->time_ms = web_poller_time_ms();
	s->poll_ns = clock_now_ns() - begin_ns;
	s->manager_up = n->manager_up;
	memcpy(s->manager_text, manager_text, sizeof(s->manager_text));
	web_snapshot_hold(s);
	web_state_nodes(n->state, s);
	details_read(n, s);
	web_snapshot_release(s);
}

void web_nodes_close(struct web_nodes *n)
{
	free(n->rows);
	n->rows = NULL;
	n->count = 0;
}
