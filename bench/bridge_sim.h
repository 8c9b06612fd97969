/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped bridge between stages of any speed in virtual time; the source's machine unless told
 * otherwise. Nothing here depends on the machine that it runs on. */
#ifndef BENCH_BRIDGE_SIM_H
#define BENCH_BRIDGE_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/bridge_stages.h"

struct bridge_sim_settings {
	uint64_t read, write; /* network, bytes/s; all rates: 0 is unlimited */
	uint64_t to_device, from_device, memory;
	uint64_t network_ns, dma_ns, interrupt_ns; /* as stages_rate has them */
	uint64_t queue;                            /* and as stages_options */
	uint64_t jitter_ns, seed;
	uint64_t buffers, fills, dmas, piece_bytes; /* as bridge_options and bridge_order */
	uint64_t buffer_bytes;                      /* only this size; 0: all */
	const char *path;                           /* only those whose name contains it */
	bool source; /* these are the source's stages, to which its figures belong */
};

/* The tables, after report_begin. Exit status. */
int bridge_sim_tables(const struct bridge_sim_settings *settings, bool quick);

struct stages_options bridge_sim_stages(const struct bridge_sim_settings *settings);

#endif
