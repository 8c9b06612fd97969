/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares transfers that the plugin posts by itself, and maps. */
#ifndef DOOR_TRANSFER_H
#define DOOR_TRANSFER_H

#include "plugins/opencl/memory.h"

/* A transfer between two copies of a root. Its uses and its completion handler hold it. */
struct transfer {
	cl_mem root; /* held until it has completed */
	int status;  /* result for copies_settle */
	uint32_t holds;
};

void transfer_drop(struct transfer *t);

/* A mapped range; list in reverse order of creation. */
struct map {
	struct map *next;
	void *at; /* address returned to the program */
	cl_map_flags flags;
	uint64_t start; /* offset in the root */
	struct dxp_box box;
};

/* Removes a map from m's list and frees it. */
void map_free(cl_mem m, struct map *map);

#endif
