/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of a launch on a pipelined RISC-V GPU, from a core's trace; off by default.
 *
 * A core issues one warp-instruction per cycle, from its warps in order, once its sources are
 * ready. Results take their unit's latency; a jump stops its warp for some cycles. Loads and stores
 * access one line per cycle in a cache of RV32_TIME_WAYS ways with LRU replacement; a miss waits
 * for memory.
 *
 * Memory's latency and bandwidth were never published. So a result has three numbers: half the
 * latency and twice the bandwidth, as assumed, twice the latency and a quarter of the bandwidth.
 * Agreement with a published figure proves nothing. */
#ifndef RV32_TIME_H
#define RV32_TIME_H

#include "rv32/core.h"

#define RV32_TIME_WAYS 4

/* Latencies in cycles, from issue until the result can be used. */
struct rv32_time_parameters {
	const char *name;
	uint32_t cores;
	uint32_t warps; /* of a core */
	/* of a warp, a power of two; warps * threads <= RV32_LANES */
	uint32_t threads;
	uint32_t clock_mhz;
	uint32_t integer, multiply, divide;
	uint32_t fused; /* add, multiply, fused multiply-add */
	uint32_t convert, float_divide, square_root;
	uint32_t load;   /* of a cache hit, LOCAL or private memory */
	uint32_t branch; /* that a jump stops its warp */
	/* per core: a power of two, at least RV32_TIME_WAYS lines */
	uint32_t cache_bytes;
	uint32_t line_bytes; /* a power of two */
	uint32_t memory;     /* added to `load` by a miss; assumed */
	/* between two lines from memory; assumed */
	uint32_t line_cycles;
};

/* Assumptions about latency and bandwidth of the memory. */
enum rv32_time_case { RV32_TIME_FAST, RV32_TIME_NOMINAL, RV32_TIME_SLOW, RV32_TIME_CASES };

struct rv32_time_result {
	uint64_t warp_instructions; /* of modelled warps */
	uint64_t lines;             /* accessed */
	uint64_t cycles[RV32_TIME_CASES];
	uint64_t lines_missed;
	/* Per cycle and core. */
	uint32_t ipc_thousandths[RV32_TIME_CASES];
};

/* Return a preset by name, or by index 0, 1, ...; NULL: no such preset. */
const struct rv32_time_parameters *rv32_time_preset(const char *name);
const struct rv32_time_parameters *rv32_time_preset_at(size_t index);

struct rv32_time;

/* Returns NULL without memory, or if a parameter is out of range. */
struct rv32_time *rv32_time_create(const struct rv32_time_parameters *parameters,
				   const uint32_t *words, size_t count, uint32_t base);
void rv32_time_destroy(struct rv32_time *time);

/* `context`: the struct rv32_time. */
void rv32_time_trace(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
		     const uint32_t (*registers)[RV32_LANES]);

/* Computes the result of the trace so far. */
void rv32_time_read(const struct rv32_time *time, struct rv32_time_result *result);

#endif
