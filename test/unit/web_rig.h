/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings of an invented fabric, for the tests of dxp-web. */
#ifndef TEST_UNIT_WEB_RIG_H
#define TEST_UNIT_WEB_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cmd/web/snapshot.h"
#include "cmd/web/state.h"

struct web_rig_node {
	uint16_t id;
	const char *name;
	bool dead;
	const char *missing; /* why the node has no counters; NULL: it has */
	uint64_t incarnation;
	uint64_t published_s;
	uint64_t received_bytes, sent_packets, repeats, drops;
};

static inline void web_rig_view(const struct web_rig_node *n, struct stats_view *v)
{
	v->missing = n->dead ? "dead" : n->missing;
	snprintf(v->node.name, sizeof(v->node.name), "%s", n->name);
	v->node.started_ns = 1;
	v->node.published_ns = n->published_s * S_NS;
	v->node.values[STATS_LINK_received_bytes] = n->received_bytes;
	v->node.values[STATS_LINK_receive_drops] = n->drops;
	v->node.totals[STATS_SESSION_sent_packets] = n->sent_packets;
	v->node.totals[STATS_SESSION_retransmitted_gap] = n->repeats;
}

static inline struct web_snapshot *web_rig_snapshot(const struct web_rig_node *nodes, size_t count,
						    const struct web_snapshot *previous)
{
	struct node_entry *rows = calloc(count + 1, sizeof(*rows));
	struct stats_list list = {.views = calloc(count + 1, sizeof(*list.views)),
				  .count = (uint32_t)count};

	for (size_t i = 0; i < count; i++) {
		rows[i] = (struct node_entry){.id = nodes[i].id,
					      .kind = MANAGE_XPU,
					      .alive = !nodes[i].dead,
					      .incarnation = nodes[i].incarnation};
		snprintf(rows[i].name, sizeof(rows[i].name), "%s", nodes[i].name);
		web_rig_view(&nodes[i], &list.views[i]);
	}
	struct web_snapshot *s = web_snapshot_create(rows, count, &list, previous);
	free(rows);
	s->manager_up = true;
	return s;
}

/* Returns the state after one reading of these nodes. */
static inline struct web_state *web_rig_state(const struct web_rig_node *nodes, size_t count)
{
	const struct udp_address manager = address_v4(0x7f000001, 4795);
	struct web_state *w = web_state_create(1000, &manager);

	web_state_nodes(w, web_rig_snapshot(nodes, count, NULL));
	return w;
}

#endif
