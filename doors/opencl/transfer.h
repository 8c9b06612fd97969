/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers that the door posts by itself, and maps: what ends with a memory object. */
#ifndef DOOR_TRANSFER_H
#define DOOR_TRANSFER_H

#include "doors/opencl/memory.h"

/* Between two copies of a root. Its uses and whoever is told of its end hold it. */
struct transfer {
	cl_mem root; /* held until it has ended */
	int status;  /* as copies_settle wants it */
	uint32_t holds;
};

void transfer_drop(struct transfer *t);

/* A mapped range, in the order of the maps' making, last first. */
struct map {
	struct map *next;
	void *at; /* what the program got */
	cl_map_flags flags;
	uint64_t start; /* in the root */
	struct dxp_box box;
};

/* Takes it out of m's list. */
void map_free(cl_mem m, struct map *map);

#endif
