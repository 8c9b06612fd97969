/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/log.h"
#include "cmd/dxp/inc.h"
#include "cmd/web/poller.h"
#include "cmd/web/sources.h"
#include "inc/where.h"
#include "wire/roce.h"

#define RECENT_MS 60000 /* ms; a rejection that is not older than this is an alert */

static void switch_alerts(const struct inc_switch_view *v, struct web_alert_list *out)
{
	char ip[IP_BYTES];

	inc_ip_format(v->ip, ip);
	if (v->silent)
		web_alerts_add(out, WEB_CRITICAL, "switch", ip,
			       "no answer: it is down, or UDP port %u is blocked", ROCE_PORT);
	for (size_t i = 0; i < v->refusal_count; i++) {
		const struct inc_refusal_row *r = &v->refusals[i];
		if (r->last_ms_ago < RECENT_MS)
			web_alerts_add(out, WEB_WARNING, "switch-refused", ip, "refused: %.160s",
				       inc_refusal_text(r->cause));
	}
}

static void alerts_add(const struct inc_tree *tree, struct web_alert_list *out)
{
	for (size_t i = 0; i < tree->count; i++)
		switch_alerts(&tree->switches[i], out);
}

/* Adds groups and rejections of a switch and of all switches above it. */
static void tree_read(struct inc_client *client, uint32_t ip, json_t *out,
		      struct web_alert_list *alerts)
{
	struct inc_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return;
	if (inc_tree_read(client, ip, INC_SECTION_GROUPS, tree) == DXP_OK)
		json_object_set_new(out, "switches", inc_tree_json(tree, INC_SECTION_GROUPS));
	if (tree->count && tree->switches[0].silent) {
		alerts_add(tree, alerts);
	} else {
		inc_client_tree_free(tree);
		if (inc_tree_read(client, ip, INC_SECTION_REFUSALS, tree) == DXP_OK) {
			json_object_set_new(out, "refusals",
					    inc_tree_json(tree, INC_SECTION_REFUSALS));
			alerts_add(tree, alerts);
		}
	}
	inc_client_tree_free(tree);
	free(tree);
}

static json_t *switch_read(const char *address, struct web_alert_list *alerts)
{
	json_t *out = json_pack("{s:s}", "address", address);
	struct inc_client *client;
	uint32_t ip, own_ip;
	char why[256] = "";

	log_divert(why, sizeof(why));
	if (inc_switch_find(address, true, &ip, &own_ip) == DXP_OK &&
	    inc_client_open(own_ip, &client) == DXP_OK) {
		tree_read(client, ip, out, alerts);
		inc_client_close(client);
	} else {
		web_alerts_add(alerts, WEB_CRITICAL, "switch", address, "%.180s", why);
	}
	log_divert(NULL, 0);
	return out;
}

void web_switches_poll(void *context)
{
	struct web_switches *s = context;
	struct web_alert_list *alerts = calloc(1, sizeof(*alerts));
	json_t *all = json_array();

	for (unsigned i = 0; alerts && i < s->count; i++)
		json_array_append_new(all, switch_read(s->addresses[i], alerts));
	if (alerts)
		web_state_alerts(s->state, WEB_SOURCE_SWITCHES, alerts, web_poller_time_ms());
	free(alerts);
	web_state_document(s->state, WEB_SWITCHES_READ,
			   web_text_json(json_pack("{s:o}", "trees", all)));
}
