/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/fabric_stats.h"
#include "cmd/dxp/paths.h"
#include "cmd/web/poller.h"
#include "cmd/web/sources.h"

static void alerts_add(const struct paths *p, struct web_alert_list *out)
{
	char text[PATH_TEXT_BYTES];

	for (size_t i = 0; i < p->count; i++) {
		const struct stats_view *v = &p->list.views[i];
		for (uint32_t k = 0; k < v->path_count; k++) {
			const char *bad = paths_verdict(p, &v->paths[k]);
			if (!bad)
				continue;
			const bool blocked = v->paths[k].state == STATS_PATH_BLOCKED;
			paths_trouble(p, &v->paths[k], text, sizeof(text));
			web_alerts_add(out, blocked ? WEB_CRITICAL : WEB_WARNING,
				       blocked                     ? "path-blocked"
				       : strcmp(bad, "slow") == 0  ? "path-slow"
				       : strcmp(bad, "lossy") == 0 ? "path-lossy"
								   : "path-short",
				       p->nodes[i].name, "to %s: %s", v->paths[k].peer, text);
		}
	}
}

static void publish(const struct web_paths *w, struct paths *p)
{
	struct web_alert_list *alerts = calloc(1, sizeof(*alerts));

	if (alerts && paths_judge(p)) {
		alerts_add(p, alerts);
		web_state_document(w->state, WEB_PATHS, web_text_json(paths_json(p)));
		web_state_alerts(w->state, WEB_SOURCE_PATHS, alerts, web_poller_time_ms());
	}
	free(alerts);
}

/* Reads the paths of the nodes that answered the last reading of the counters. */
void web_paths_poll(void *context)
{
	const struct web_paths *w = context;
	struct fabric_stats source = {.fabric = w->fabric, .paths = true};
	struct web_snapshot *s = web_state_snapshot(w->state);
	struct node_entry *rows = s ? calloc(s->count + 1, sizeof(*rows)) : NULL;
	struct paths p = {.nodes = rows};

	for (size_t i = 0; rows && i < s->count; i++)
		if (s->nodes[i].health == WEB_ALIVE)
			rows[p.count++] = s->nodes[i].entry;
	web_snapshot_release(s);
	if (rows && fabric_stats_read(&source, p.nodes, p.count, &p.list) == DXP_OK) {
		publish(w, &p);
		stats_list_free(&p.list);
	}
	free(rows);
}
