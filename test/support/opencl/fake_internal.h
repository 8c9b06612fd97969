/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of the fake fabric. */
#ifndef TEST_OPENCL_FAKE_INTERNAL_H
#define TEST_OPENCL_FAKE_INTERNAL_H

#include <pthread.h>

#include "test/support/opencl/fake_fabric.h"

#define RANGES_MAX 4096

struct range {
	uint64_t address, bytes;
};

struct dxp_xpu {
	uint32_t node, generation;
	uint32_t references;
};

struct fake_node {
	char name[DXP_NAME_BYTES];
	uint64_t memory_bytes, allocated;
	bool alive, opencl;
	uint32_t generation;
	struct dxp_xpu xpu; /* a node that returns has a new generation */
	struct range ranges[RANGES_MAX];
	uint32_t range_count;
	uint8_t *memory;
};

extern pthread_mutex_t fake_lock;
extern struct fake_node fake_nodes[FAKE_NODES_MAX];

bool fake_is_dead(const struct dxp_xpu *x);

#endif
