/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model loggp`, `topology` and `tags`. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/model.h"
#include "cmd/dxp/model_measure.h"
#include "model/net_rows.h"

static bool measured;
static const char *kind_text;

static int loggp_run(const struct model_run *run)
{
	struct model_attach attach;

	if (measured)
		return model_measure_rows(run->parameters, run->sink);
	return model_loggp_rows(run->parameters, model_attach(&attach, run));
}

static const struct option_row loggp_options[] = {
	{"measure", NULL,
	 "measure o, g, G and L of this machine's NIC with the benchmarks; needs two idle cores",
	 OPTION_FLAG, &measured, 0, 0},
};

const struct model_part model_part_loggp = {
	.name = "loggp",
	.summary = "time of a message against processors, by equation (1)",
	.text = "Prints T(P) = Oc + Ods + (M - 1) G + H r + Odr of direct networks. The source's "
		"values are doorbell_ns, descriptor_ns, gap_ps, hop_ns, receive_ns and "
		"message_bytes; set them to those of another NIC.",
	.rows = loggp_options,
	.row_count = ARRAY_COUNT(loggp_options),
	.groups = "loggp doorbell_ns hop_ns",
	.run = loggp_run,
};

static int topology_run(const struct model_run *run)
{
	enum model_topology kind = MODEL_HYPERCUBE;
	bool one = kind_text != NULL;
	struct model_attach attach;

	if (one && !model_topology_parse(kind_text, &kind))
		return error_set(DXP_EINVAL,
				 "there is no topology '%s'; there are hypercube, torus3, mesh3, "
				 "torus2, mesh2, fat-tree, dragonfly, slim-fly, butterfly",
				 kind_text);
	for (int i = 0; i < MODEL_TOPOLOGIES; i++) {
		if (one && i != (int)kind)
			continue;
		int status = model_topology_rows(run->parameters, (enum model_topology)i,
						 model_attach(&attach, run));
		/* some kinds of network do not exist in every size */
		if (status == DXP_EINVAL && !one) {
			if (!run->json)
				fprintf(stderr, "dxp: %s: left out: %s\n",
					model_topology_name((enum model_topology)i), error_text());
			continue;
		}
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

static const struct option_row topology_options[] = {
	{"kind", "NAME", "only this one: hypercube, torus3, mesh3, torus2, mesh2, fat-tree, ...",
	 OPTION_TEXT, &kind_text, 0, 0},
};

static const struct model_shortcut topology_shortcuts[] = {
	{"nodes", "nodes", "numbers of nodes: 64,1024 or 16..4096*4"},
	{NULL, NULL, NULL},
};

const struct model_part model_part_topology = {
	.name = "topology",
	.summary = "mean distance of networks: formula, exact form, search over the graph",
	.text = "Builds each network and searches it breadth first. Distances are in links, with "
		"and without the node itself. T is equation (1) with the distance between "
		"different nodes.",
	.rows = topology_options,
	.row_count = ARRAY_COUNT(topology_options),
	.shortcuts = topology_shortcuts,
	.groups = "topology loggp doorbell_ns hop_ns",
	.run = topology_run,
};

static int tags_run(const struct model_run *run)
{
	struct model_attach attach;

	return model_tags_rows(run->parameters, model_attach(&attach, run));
}

static const struct model_shortcut tags_shortcuts[] = {
	{"request", "request_bytes", "bytes of a read request: 16..1024*2"},
	{"read", "memory_read_cycles", "cycles of a read from memory: 130,320"},
	{NULL, NULL, NULL},
};

const struct model_part model_part_tags = {
	.name = "tags",
	.summary = "reads outstanding that hide memory's latency, by equation (2)",
	.text = "Prints n_min = ceil(t / (s / 16 + 2 s / MTU)), and the rate against the number of "
		"tags: in closed form, and by moving 20,000 reads.",
	.shortcuts = tags_shortcuts,
	.groups = "nic pcie",
	.run = tags_run,
};
