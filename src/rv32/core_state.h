/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a core for core.c, warp.c and lane handlers. */
#ifndef RV32_CORE_STATE_H
#define RV32_CORE_STATE_H

#include "rv32/execute.h"

struct rv32_core {
	struct rv32_memory memory; /* of the launch */
	/* entry i: segment i - 1; the page table holds the index */
	struct span spans[RV32_SEGMENTS_MAX + 1];
	uint32_t index;
	uint32_t private_max; /* per lane */
	uint32_t warp_max;
	uint8_t *private_rows; /* private_max * RV32_LANES per warp */
	/* Farthest store of a warp below RV32_PRIVATE_END, which the next launch clears. */
	uint32_t dirty[RV32_WARPS_MAX];
	uint8_t *local; /* of running work-groups */
	uint32_t local_stride;
	struct warp *warps;
	/* x, y, z and linear */
	alignas(64) uint32_t local_id[RV32_WARPS_MAX][4][RV32_LANES];

	const struct rv32_launch *launch;
	uint32_t id_sizes[3]; /* work-group size of local_id; 0: none */
	uint32_t group_items; /* of a work-group */
	/* work-groups in a warp; 1: one has 1 .. 32 warps */
	uint32_t pack;
	uint32_t warp_count; /* running */
	uint32_t running;    /* running work-groups */
	uint64_t group_total, group_next, group_done;
	struct rv32_trap trap;
	uint8_t payload[DXP_NAP_BYTES]; /* inline, of dxp.post */
};

/* Runs a warp until its lanes have ended, wait at a barrier, or used up their quota of backward
 * branches. Returns false after a trap. */
bool rv32_warp_run(struct warp *w);

/* Adds lanes, which continue at step `pc`. */
void rv32_warp_insert(struct warp *w, uint32_t pc, uint32_t mask);

/* Releases lanes that wait at a barrier. */
void rv32_warp_release(struct warp *w, uint32_t mask);

#endif
