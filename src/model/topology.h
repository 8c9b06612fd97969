/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks as graphs, and the mean distance between nodes: found by breadth-first search, and in
 * closed form where one exists (C-07). A distance is a number of links. In direct networks
 * (hypercube, mesh, torus) the nodes are routers. In the other networks, a link connects each node
 * to a switch. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_TOPOLOGY_NODES_MIN 2
/* the time of a search grows with the square of the number of routers */
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
	MODEL_TOPOLOGIES
};

struct model_graph {
	enum model_topology kind;
	uint32_t nodes, routers;
	uint32_t *first;   /* edges of router i: edges[first[i]] .. edges[first[i + 1] - 1] */
	uint32_t *edges;   /* each link is stored at both ends */
	uint32_t *hosted;  /* number of nodes on each router; NULL: one on each */
	uint32_t sides[3]; /* sides of a mesh or torus; 0: unused */
	uint32_t radix;    /* largest number of links of a router, including its links to nodes */
};

struct model_distance {
	double mean;      /* mean over all pairs of different nodes */
	double mean_self; /* mean over all pairs, including the pair of a node with itself */
	uint32_t diameter;
	uint64_t links; /* links between routers, plus links between nodes and switches */
};

/* Returns the name of a topology: "hypercube", "3D torus", ... */
const char *model_topology_name(enum model_topology kind);
bool model_topology_parse(const char *text, enum model_topology *out);

/* Builds a graph. DXP_ENOMEM; DXP_EINVAL: this kind has no network with so many nodes; error_text()
 * has the reason. */
int model_graph_create(enum model_topology kind, uint32_t nodes, struct model_graph **out);
void model_graph_destroy(struct model_graph *g);

/* Computes the distances between all nodes, by a search from each router that has nodes.
 * DXP_ENOMEM; DXP_EINVAL: the graph is not connected. */
int model_graph_search(const struct model_graph *g, struct model_distance *out);

/* Returns the closed form of the source (C-07; row.h), such as log2(P) / 2 for P nodes. A negative
 * value: there is none. */
double model_topology_formula(enum model_topology kind, uint32_t nodes);

/* Returns the exact mean over all pairs, including a node with itself. A negative value: there is
 * no closed form. */
double model_graph_exact(const struct model_graph *g);

#endif
