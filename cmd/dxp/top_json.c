/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/choice.h"
#include "cmd/dxp/top.h"

json_t *top_json(const struct stats_list *nodes, const struct top_options *options)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct stats_view *v = &nodes->views[i];
		if (choice_matches(v, options->node, options->pid))
			json_array_append_new(rows, top_node_json(v));
	}
	return json_pack("{s:i, s:o}", "version", STATS_VERSION, "nodes", rows);
}
