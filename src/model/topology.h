/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks as graphs, and the mean distance of nodes: by breadth-first search, and in closed form
 * where one exists (C-07). A distance counts links. In direct networks (hypercube, mesh, torus)
 * nodes are routers; in the others a link connects a node to a switch. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_TOPOLOGY_NODES_MIN 2
#define MODEL_TOPOLOGY_NODES_MAX 65536 /* a search is quadratic in the routers */

enum model_topology {
	MODEL_HYPERCUBE,
	MODEL_TORUS3,
	MODEL_MESH3,
	MODEL_TORUS2,
	MODEL_MESH2,
	MODEL_FAT_TREE,
	MODEL_DRAGONFLY,
	MODEL_SLIM_FLY,
	MODEL_TOPOLOGIES
};

struct model_graph {
	enum model_topology kind;
	uint32_t nodes, routers;
	uint32_t *first;   /* edges of router i: edges[first[i]] .. edges[first[i + 1] - 1] */
	uint32_t *edges;   /* each link is stored at both ends */
	uint32_t *hosted;  /* nodes per router; NULL: one each */
	uint32_t sides[3]; /* sides of mesh and torus; 0: unused */
	uint32_t radix;    /* most links of a router, including those to nodes */
};

struct model_distance {
	double mean;      /* over pairs of different nodes */
	double mean_self; /* mean over all pairs, including those of a node and itself */
	uint32_t diameter;
	uint64_t links; /* number of links between routers; number of links of nodes to switches */
};

/* Returns "hypercube", "3D torus", ... */
const char *model_topology_name(enum model_topology kind);
bool model_topology_parse(const char *text, enum model_topology *out);

/* Builds a graph. DXP_ENOMEM; DXP_EINVAL with error_text(): this kind has no network of so many
 * nodes. */
int model_graph_create(enum model_topology kind, uint32_t nodes, struct model_graph **out);
void model_graph_destroy(struct model_graph *g);

/* Searches from each router with nodes. DXP_ENOMEM; DXP_EINVAL: the graph is not connected. */
int model_graph_search(const struct model_graph *g, struct model_distance *out);

/* Returns the source's closed form (C-07), such as log2(P) / 2; negative: none. */
double model_topology_formula(enum model_topology kind, uint32_t nodes);

/* Returns the exact mean over all pairs, including a node and itself; negative: no closed form. */
double model_graph_exact(const struct model_graph *g);

#endif
