/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks as graphs, and the mean distance of their nodes: by breadth-first search over the built
 * graph, and in closed form where one exists (C-07). A distance counts links. In direct networks
 * (hypercube, mesh, torus) nodes are routers; in the others a node hangs on a switch by a link. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_TOPOLOGY_NODES_MIN 2
#define MODEL_TOPOLOGY_NODES_MAX 65536 /* nodes: a search is quadratic in the routers */

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
	uint32_t *edges;   /* each link appears at both of its ends */
	uint32_t *hosted;  /* nodes at each router; NULL: one at each */
	uint32_t sides[3]; /* of mesh and torus; 0: not a side */
	uint32_t radix;    /* largest number of links at a router, nodes included */
};

struct model_distance {
	double mean;      /* over pairs of different nodes */
	double mean_self; /* over all pairs, the node itself included */
	uint32_t diameter;
	uint64_t links; /* between routers; and those of nodes to switches */
};

/* Returns "hypercube", "3D torus", ... */
const char *model_topology_name(enum model_topology kind);
bool model_topology_parse(const char *text, enum model_topology *out);

/* Builds a graph. Errors: DXP_ENOMEM; DXP_EINVAL with error_text(): this kind has no network of so
 * many nodes. */
int model_graph_create(enum model_topology kind, uint32_t nodes, struct model_graph **out);
void model_graph_destroy(struct model_graph *g);

/* Searches from every router that has nodes. DXP_ENOMEM; DXP_EINVAL: the graph is not connected. */
int model_graph_search(const struct model_graph *g, struct model_distance *out);

/* Returns the source's closed form (C-07), such as log2(P) / 2; negative: there is none. */
double model_topology_formula(enum model_topology kind, uint32_t nodes);

/* Returns the exact mean over all pairs of the built graph, the node itself included; negative: no
 * closed form. */
double model_graph_exact(const struct model_graph *g);

#endif
