/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks as graphs, and mean distances in links, by breadth-first search and in closed form
 * (C-07). In direct networks (hypercube, mesh, torus), nodes are routers; in others, each has a
 * link to a switch. In a butterfly, nodes are the routers of the first and of the last level. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_TOPOLOGY_NODES_MIN 2
/* searches take the square of the routers */
#define MODEL_TOPOLOGY_NODES_MAX 65536

enum model_topology {
	MODEL_HYPERCUBE,
	MODEL_TORUS3,
	MODEL_MESH3,
	MODEL_TORUS2,
	MODEL_MESH2,
	MODEL_FAT_TREE,
	MODEL_DRAGONFLY,
	MODEL_SLIM_FLY,
	MODEL_BUTTERFLY,
	MODEL_TOPOLOGIES
};

struct model_graph {
	enum model_topology kind;
	uint32_t nodes, routers;
	uint32_t *first;   /* router i: edges[first[i]] .. edges[first[i + 1] - 1] */
	uint32_t *edges;   /* each link at both ends */
	uint32_t *hosted;  /* nodes by router; NULL: one each */
	uint32_t sides[3]; /* of a mesh or torus; 0: unused */
	uint32_t radix;    /* most links of a router, with those to nodes */
	/* Butterfly: node i sends at router i, and receives at router receivers + i. Other
	 * networks: 0. */
	uint32_t receivers;
};

struct model_distance {
	double mean;      /* of pairs of different nodes */
	double mean_self; /* with pairs of a node and itself */
	uint32_t diameter;
	uint64_t links; /* with those between nodes and switches */
};

/* "hypercube", "3D torus", ... */
const char *model_topology_name(enum model_topology kind);
bool model_topology_parse(const char *text, enum model_topology *out);

/* DXP_ENOMEM; DXP_EINVAL: no such network of this size; error_text() has the reason. */
int model_graph_create(enum model_topology kind, uint32_t nodes, struct model_graph **out);
void model_graph_destroy(struct model_graph *g);

/* Searches from each router with nodes. DXP_ENOMEM; DXP_EINVAL: not connected. */
int model_graph_search(const struct model_graph *g, struct model_distance *out);

/* Returns the source's formula (C-07), such as log2(P) / 2 for P nodes; negative: none. */
double model_topology_formula(enum model_topology kind, uint32_t nodes);

/* Returns the exact mean of all pairs, also of a node with itself; negative: no closed form. */
double model_graph_exact(const struct model_graph *g);

#endif
