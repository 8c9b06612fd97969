/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the links of a network once each, for topology.c and graph_switched.c. */
#ifndef MODEL_GRAPH_BUILD_H
#define MODEL_GRAPH_BUILD_H

#include <stdint.h>

#include "model/topology.h"

struct graph_links {
	uint32_t (*ends)[2];
	uint64_t count, space;
	int status; /* of the first link that could not be added */
};

void graph_link(struct graph_links *links, uint32_t a, uint32_t b);

/* Distributes nodes evenly on the first `routers` routers, at most `most` on each. */
int graph_host(struct model_graph *g, uint32_t routers, uint32_t most);

/* Collect links, and set g->routers and g->hosted. */
int graph_fat_tree(struct model_graph *g, struct graph_links *links);
int graph_dragonfly(struct model_graph *g, struct graph_links *links);
int graph_slim_fly(struct model_graph *g, struct graph_links *links);
int graph_butterfly(struct model_graph *g, struct graph_links *links);

#endif
