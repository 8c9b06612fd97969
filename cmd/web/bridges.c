/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/bridge_view.h"
#include "cmd/web/poller.h"
#include "cmd/web/sources.h"

static struct bridge_view *view_find(struct bridge_view *views, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(views[i].name, name) == 0)
			return &views[i];
	return NULL;
}

static void views_close(struct bridge_view *views, size_t count)
{
	for (size_t i = 0; i < count; i++)
		dxp_xpu_close(views[i].xpu);
	free(views);
}

/* Makes a view for each live xPU with a bridge. Views of xPUs that are already open keep their
 * connection. Returns false if out of memory. */
static bool views_update(struct web_bridges *b, const struct web_snapshot *s)
{
	struct bridge_view *views = calloc(s->count + 1, sizeof(*views));
	size_t count = 0;

	if (!views)
		return false;
	for (size_t i = 0; i < s->count; i++) {
		const struct node_entry *row = &s->nodes[i].entry;
		if (!bridge_view_has(row))
			continue;
		struct bridge_view *old = view_find(b->views, b->count, row->name);
		if (old) {
			views[count] = *old;
			old->xpu = NULL;
		}
		memcpy(views[count++].name, row->name, sizeof(row->name));
	}
	views_close(b->views, b->count);
	b->views = views;
	b->count = count;
	return true;
}

/* Opens xPUs that are not open. The first reading after that starts the first interval. */
static void views_open(struct web_bridges *b)
{
	if (b->count && !b->joined && dxp_fabric_open(b->fabric, &b->joined) != DXP_OK)
		b->joined = NULL;
	for (size_t i = 0; b->joined && i < b->count; i++) {
		struct bridge_view *v = &b->views[i];
		if (v->xpu || dxp_xpu_open(b->joined, v->name, &v->xpu) != DXP_OK)
			continue;
		bridge_view_read(v, &v->after);
	}
}

static void views_read(struct web_bridges *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct bridge_view *v = &b->views[i];
		v->before = v->after;
		bridge_view_read(v, &v->after);
	}
}

static bool serious(const char *verdict)
{
	return strcmp(verdict, "failing") == 0 || strcmp(verdict, "silent") == 0;
}

static bool slow(const char *verdict)
{
	return strcmp(verdict, "device") == 0 || strcmp(verdict, "buffers") == 0 ||
	       strcmp(verdict, "reader") == 0;
}

static void bridge_alert(const json_t *row, struct web_alert_list *out)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *verdict = json_string_value(json_object_get(row, "verdict"));
	const char *text = json_string_value(json_object_get(row, "verdict_text"));

	if (serious(verdict))
		web_alerts_add(out, WEB_CRITICAL, "bridge", name, "%s", text);
	else if (slow(verdict))
		web_alerts_add(out, WEB_WARNING, "bridge-slow", name, "%s", text);
}

static void publish(struct web_bridges *b)
{
	struct web_alert_list *alerts = calloc(1, sizeof(*alerts));
	json_t *rows = json_array();

	for (size_t i = 0; i < b->count; i++) {
		json_t *row = bridge_view_json(&b->views[i]);
		if (alerts)
			bridge_alert(row, alerts);
		json_array_append_new(rows, row);
	}
	if (alerts)
		web_state_alerts(b->state, WEB_SOURCE_BRIDGES, alerts, web_poller_time_ms());
	free(alerts);
	web_state_document(b->state, WEB_BRIDGES,
			   web_text_json(json_pack("{s:o}", "bridges", rows)));
}

void web_bridges_poll(void *context)
{
	struct web_bridges *b = context;
	struct web_snapshot *s = web_state_snapshot(b->state);

	if (s && views_update(b, s)) {
		views_open(b);
		views_read(b);
		publish(b);
	}
	web_snapshot_release(s);
}

void web_bridges_close(struct web_bridges *b)
{
	views_close(b->views, b->count);
	if (b->joined)
		dxp_fabric_close(b->joined);
	*b = (struct web_bridges){0};
}
