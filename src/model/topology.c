/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds direct networks, and searches all networks for distances. */
#include "model/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/graph_build.h"

#define UNREACHED UINT32_MAX

static const struct {
	const char *name, *word;
} names[MODEL_TOPOLOGIES] = {
	[MODEL_HYPERCUBE] = {"hypercube", "hypercube"}, [MODEL_TORUS3] = {"3D torus", "torus3"},
	[MODEL_MESH3] = {"3D mesh", "mesh3"},           [MODEL_TORUS2] = {"2D torus", "torus2"},
	[MODEL_MESH2] = {"2D mesh", "mesh2"},           [MODEL_FAT_TREE] = {"fat tree", "fat-tree"},
	[MODEL_DRAGONFLY] = {"dragonfly", "dragonfly"}, [MODEL_SLIM_FLY] = {"slim fly", "slim-fly"},
	[MODEL_BUTTERFLY] = {"butterfly", "butterfly"},
};

const char *model_topology_name(enum model_topology kind)
{
	return names[kind].name;
}

bool model_topology_parse(const char *text, enum model_topology *out)
{
	for (int i = 0; i < MODEL_TOPOLOGIES; i++)
		if (strcmp(text, names[i].name) == 0 || strcmp(text, names[i].word) == 0) {
			*out = (enum model_topology)i;
			return true;
		}
	return false;
}

void graph_link(struct graph_links *links, uint32_t a, uint32_t b)
{
	if (links->status != DXP_OK)
		return;
	if (links->count == links->space) {
		uint64_t space = links->space ? 2 * links->space : 1024;
		void *ends = realloc(links->ends, space * sizeof(*links->ends));
		if (!ends) {
			links->status = DXP_ENOMEM;
			return;
		}
		links->ends = ends;
		links->space = space;
	}
	links->ends[links->count][0] = a;
	links->ends[links->count++][1] = b;
}

int graph_host(struct model_graph *g, uint32_t routers, uint32_t most)
{
	g->hosted = calloc(g->routers, sizeof(*g->hosted));
	if (!g->hosted)
		return DXP_ENOMEM;
	for (uint32_t i = 0, left = g->nodes; i < routers; i++) {
		uint32_t here = (left + routers - i - 1) / (routers - i);
		g->hosted[i] = (uint32_t)min_u64(here, most);
		left -= g->hosted[i];
	}
	return DXP_OK;
}

/* Finds up to `dimensions` sides with product `nodes`, as equal as possible. */
static bool sides_set(uint32_t nodes, int dimensions, uint32_t sides[3])
{
	uint32_t best = 1;

	if (dimensions == 1) {
		sides[0] = nodes;
		return true;
	}
	for (uint32_t side = 1; pow(side, dimensions) <= nodes + 0.5; side++)
		if (nodes % side == 0)
			best = side;
	if (best < 2)
		return false;
	sides[dimensions - 1] = best;
	return sides_set(nodes / best, dimensions - 1, sides);
}

static int grid_links(struct model_graph *g, struct graph_links *links, int dimensions, bool torus)
{
	uint32_t stride = 1;

	if (!sides_set(g->nodes, dimensions, g->sides))
		return error_set(
			DXP_EINVAL,
			"%u nodes have no %s: the sides must be 2 or more and their product "
			"the number of nodes",
			g->nodes, names[g->kind].name);
	g->routers = g->nodes;
	for (int d = 0; d < dimensions; d++) {
		uint32_t side = g->sides[d];
		for (uint32_t i = 0; i < g->nodes; i++) {
			uint32_t at = i / stride % side;
			if (at + 1 < side)
				graph_link(links, i, i + stride);
			else if (torus && side > 2)
				graph_link(links, i, i - (side - 1) * stride);
		}
		stride *= side;
	}
	return links->status;
}

static int hypercube_links(struct model_graph *g, struct graph_links *links)
{
	if (g->nodes & (g->nodes - 1))
		return error_set(DXP_EINVAL, "a hypercube has a power of two of nodes, not %u",
				 g->nodes);
	g->routers = g->nodes;
	for (uint32_t i = 0; i < g->nodes; i++)
		for (uint32_t bit = 1; bit < g->nodes; bit *= 2)
			if (!(i & bit))
				graph_link(links, i, i | bit);
	return links->status;
}

static int links_collect(struct model_graph *g, struct graph_links *links)
{
	switch (g->kind) {
	case MODEL_HYPERCUBE: return hypercube_links(g, links);
	case MODEL_TORUS3: return grid_links(g, links, 3, true);
	case MODEL_MESH3: return grid_links(g, links, 3, false);
	case MODEL_TORUS2: return grid_links(g, links, 2, true);
	case MODEL_MESH2: return grid_links(g, links, 2, false);
	case MODEL_FAT_TREE: return graph_fat_tree(g, links);
	case MODEL_DRAGONFLY: return graph_dragonfly(g, links);
	case MODEL_BUTTERFLY: return graph_butterfly(g, links);
	default: return graph_slim_fly(g, links);
	}
}

/* Sorts by router: one pass counts, one stores. */
static int links_sort(struct model_graph *g, const struct graph_links *links)
{
	g->first = calloc((size_t)g->routers + 2, sizeof(*g->first));
	g->edges = malloc(2 * max_u64(links->count, 1) * sizeof(*g->edges));
	if (!g->first || !g->edges)
		return DXP_ENOMEM;
	/* fill[i + 1] counts router i's edges, then fill[i] is its next edge; at the end first[i]
	 * is its first. */
	uint32_t *fill = g->first + 1;
	for (uint64_t i = 0; i < links->count; i++)
		for (int end = 0; end < 2; end++)
			fill[links->ends[i][end] + 1]++;
	for (uint32_t i = 0; i < g->routers; i++) {
		uint32_t nodes = g->hosted ? g->hosted[i] : g->receivers ? 0 : 1;
		g->radix = max_u32(g->radix, fill[i + 1] + nodes);
		fill[i + 1] += fill[i];
	}
	for (uint64_t i = 0; i < links->count; i++)
		for (int end = 0; end < 2; end++)
			g->edges[fill[links->ends[i][end]]++] = links->ends[i][!end];
	return DXP_OK;
}

int model_graph_create(enum model_topology kind, uint32_t nodes, struct model_graph **out)
{
	struct graph_links links = {0};

	if (nodes < MODEL_TOPOLOGY_NODES_MIN || nodes > MODEL_TOPOLOGY_NODES_MAX)
		return error_set(DXP_EINVAL, "%u nodes are out of range; choose %d .. %d", nodes,
				 MODEL_TOPOLOGY_NODES_MIN, MODEL_TOPOLOGY_NODES_MAX);
	struct model_graph *g = calloc(1, sizeof(*g));
	if (!g)
		return DXP_ENOMEM;
	g->kind = kind;
	g->nodes = nodes;
	int status = links_collect(g, &links);
	if (status == DXP_OK)
		status = links_sort(g, &links);
	free(links.ends);
	if (status != DXP_OK) {
		model_graph_destroy(g);
		return status;
	}
	*out = g;
	return DXP_OK;
}

void model_graph_destroy(struct model_graph *g)
{
	if (!g)
		return;
	free(g->first);
	free(g->edges);
	free(g->hosted);
	free(g);
}

static uint32_t nodes_at(const struct model_graph *g, uint32_t router)
{
	return g->hosted ? g->hosted[router] : 1;
}

static uint32_t receivers_at(const struct model_graph *g, uint32_t router)
{
	return router < g->receivers ? 0 : nodes_at(g, router);
}

/* Adds distances from one router's nodes to all. Returns false if one is out of reach. */
static bool search_from(const struct model_graph *g, uint32_t from, uint32_t *distance,
			uint32_t *queue, uint64_t *sum, uint32_t *diameter)
{
	uint32_t head = 0, tail = 0, own_links = g->hosted ? 2 : 0;
	uint64_t reached = 0;

	memset(distance, 0xff, g->routers * sizeof(*distance));
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t at = queue[head++], nodes = receivers_at(g, at);
		uint32_t links = distance[at] + own_links;
		reached += nodes;
		*sum += (uint64_t)links * nodes * nodes_at(g, from);
		if (nodes > (at == from))
			*diameter = max_u32(*diameter, links);
		for (uint32_t e = g->first[at]; e < g->first[at + 1]; e++) {
			uint32_t next = g->edges[e];
			if (distance[next] != UNREACHED)
				continue;
			distance[next] = distance[at] + 1;
			queue[tail++] = next;
		}
	}
	/* A node has distance 0 to itself, also behind switches. */
	*sum -= (uint64_t)own_links * nodes_at(g, from);
	return reached == g->nodes;
}

int model_graph_search(const struct model_graph *g, struct model_distance *out)
{
	uint32_t *distance = malloc(2 * (size_t)g->routers * sizeof(*distance)), diameter = 0;
	bool connected = true;
	uint64_t sum = 0;

	if (!distance)
		return DXP_ENOMEM;
	/* In a butterfly, all senders are alike: an exchange of rows is the same graph. */
	uint32_t senders = g->receivers ? 1 : g->routers;
	for (uint32_t i = 0; connected && i < senders; i++)
		if (nodes_at(g, i) > 0)
			connected =
				search_from(g, i, distance, distance + g->routers, &sum, &diameter);
	free(distance);
	if (!connected)
		return error_set(DXP_EINVAL, "the %s of %u nodes is not connected",
				 names[g->kind].name, g->nodes);
	double nodes = g->nodes, pairs = nodes * nodes;
	if (g->receivers)
		sum *= g->nodes;
	*out = (struct model_distance){
		/* A butterfly's message to its own node crosses the network too. */
		.mean = (double)sum / (g->receivers ? pairs : pairs - nodes),
		.mean_self = (double)sum / pairs,
		.diameter = diameter,
		.links = g->first[g->routers] / 2 + (g->hosted ? g->nodes : 0),
	};
	return DXP_OK;
}

double model_topology_formula(enum model_topology kind, uint32_t nodes)
{
	switch (kind) {
	case MODEL_HYPERCUBE: return log2(nodes) / 2;
	case MODEL_TORUS3: return cbrt(nodes) * 3 / 4;
	case MODEL_MESH3: return cbrt(nodes);
	case MODEL_TORUS2: return sqrt(nodes) / 2;
	case MODEL_MESH2: return sqrt(nodes) * 2 / 3;
	case MODEL_BUTTERFLY: return log2(nodes);
	default: return -1;
	}
}

/* Returns the mean on a line or ring, with the distance 0 to itself. */
static double side_mean(double side, bool ring)
{
	if (!ring)
		return (side * side - 1) / (3 * side);
	return fmod(side, 2) == 0 ? side / 4 : (side * side - 1) / (4 * side);
}

/* Returns LogP's formula: twice the mean levels up to the common switch. */
static double fat_tree_mean(uint32_t nodes)
{
	double sum = 0, below = 1;

	for (uint32_t level = 1; below < nodes; level++, below *= 4)
		sum += level * (4 * below - below);
	return 2 * sum / nodes;
}

double model_graph_exact(const struct model_graph *g)
{
	bool ring = g->kind == MODEL_TORUS2 || g->kind == MODEL_TORUS3;
	double sum = 0;

	if (g->kind == MODEL_HYPERCUBE)
		return log2(g->nodes) / 2;
	if (g->kind == MODEL_FAT_TREE)
		return fat_tree_mean(g->nodes);
	if (g->kind == MODEL_BUTTERFLY)
		return log2(g->nodes);
	if (g->kind > MODEL_MESH2)
		return -1;
	for (int d = 0; d < 3 && g->sides[d] > 0; d++)
		sum += side_mean(g->sides[d], ring);
	return sum;
}
