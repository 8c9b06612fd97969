/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a host of sim.h memory that only DMA reaches: a staged region, the shipped bridge, and DMA
 * controllers in virtual time. */
#ifndef SIM_BRIDGE_NODE_H
#define SIM_BRIDGE_NODE_H

#include <stdint.h>

#include "bridge/bridge.h"
#include "sim/bridge_stages.h"
#include "sim/sim.h"

struct bridge_node_options {
	uint64_t memory_bytes;
	/* the network in it is unused, because the simulator is the network */
	struct stages_options stages;
	uint32_t buffers, buffer_bytes, dmas; /* see bridge_options */
	uint64_t stall_ns;
};

struct bridge_node;

/* Registers the memory with function 0 of the host's NIC, for reading and writing. DXP_ENOMEM,
 * DXP_EINVAL. */
int bridge_node_create(struct sim *s, uint32_t host, const struct bridge_node_options *options,
		       struct bridge_node **out);
/* Call it after the host's NIC is destroyed (sim_restart, sim_destroy). */
void bridge_node_destroy(struct bridge_node *n);

uint32_t bridge_node_key(const struct bridge_node *n);
uint8_t *bridge_node_memory(struct bridge_node *n);
struct bridge *bridge_node_core(struct bridge_node *n);
struct stages *bridge_node_stages(struct bridge_node *n);

struct bridge_node_counters {
	uint64_t writes, reads; /* PUTs and GETs started */
	/* most buffers in use: [0] towards the device, [1] from it */
	uint32_t peak[2];
	uint32_t open; /* transfers in use by NIC or bridge */
	uint32_t resets;
	/* for PUTs that had found no buffer */
	uint64_t grants;
};
struct bridge_node_counters bridge_node_counters(const struct bridge_node *n);

#endif
