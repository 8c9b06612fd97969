/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the shipped bridge in virtual time between stages of any speed, by default those of the
 * source's machine. Results do not depend on the host machine. */
#ifndef BENCH_BRIDGE_SIM_H
#define BENCH_BRIDGE_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/bridge_stages.h"

struct bridge_sim_settings {
	uint64_t read, write; /* network, bytes/s; 0 in any rate: unlimited */
	uint64_t to_device, from_device, memory;
	uint64_t network_ns, dma_ns, interrupt_ns; /* see stages_rate */
	uint64_t queue;                            /* see stages_options */
	uint64_t jitter_ns, seed;
	uint64_t buffers, fills, dmas, piece_bytes; /* see bridge_options and bridge_order */
	uint64_t buffer_bytes;                      /* only this size; 0: all */
	const char *path;                           /* selects paths whose name contains it */
	/* Use the stages of the source (the bridge's paper: docs/reference/seeds.md, part S), and
	 * print its figures beside the results. */
	bool source;
};

/* Call after report_begin. Returns an exit status. */
int bridge_sim_tables(const struct bridge_sim_settings *settings, bool quick);

struct stages_options bridge_sim_stages(const struct bridge_sim_settings *settings);

#endif
