/* SPDX-License-Identifier: BSD-3-Clause */
/* Models time: computes the cycles that a pipelined RISC-V GPU needs for a launch. The model is off
 * by default. It reads the trace of a core and changes nothing.
 *
 * A modelled core issues one warp-instruction per cycle, from its warps in order. An instruction
 * waits until its source registers are ready. A result is ready after the latency of its unit. A
 * jump or branch stops its warp for some cycles. Loads and stores access one cache line per cycle.
 * The data cache has RV32_TIME_WAYS ways and LRU replacement; a miss waits for memory. All cores
 * share the work evenly.
 *
 * Latency and bandwidth of the memory were never published; they are assumed. So a result has three
 * numbers: for half the latency and twice the bandwidth, for the assumed values, and for twice the
 * latency and a quarter of the bandwidth. Agreement with a published figure makes the model
 * plausible, but proves nothing. */
#ifndef RV32_TIME_H
#define RV32_TIME_H

#include "rv32/core.h"

#define RV32_TIME_WAYS 4

/* Parameters of a modelled device. Latencies are in cycles, from issue until the result can be
 * used. */
struct rv32_time_parameters {
	const char *name;
	uint32_t cores;
	uint32_t warps; /* warps of a core */
	/* threads of a warp, a power of two; warps * threads is at most RV32_LANES */
	uint32_t threads;
	uint32_t clock_mhz;
	uint32_t integer, multiply, divide;
	uint32_t fused; /* float add, multiply and fused multiply-add */
	uint32_t convert, float_divide, square_root;
	uint32_t load; /* latency of a load that hits the cache, or reads LOCAL or private memory */
	uint32_t branch; /* cycles for which a branch or jump stops its warp */
	/* bytes of a core's data cache: a power of two, at least RV32_TIME_WAYS lines */
	uint32_t cache_bytes;
	uint32_t line_bytes; /* bytes of a cache line, a power of two */
	uint32_t memory;     /* latency that a miss adds to `load`; assumed */
	/* cycles between two lines that a core fetches from memory; assumed */
	uint32_t line_cycles;
};

/* Assumptions about latency and bandwidth of the memory. */
enum rv32_time_case { RV32_TIME_FAST, RV32_TIME_NOMINAL, RV32_TIME_SLOW, RV32_TIME_CASES };

struct rv32_time_result {
	uint64_t warp_instructions; /* instructions of the modelled warps */
	uint64_t lines;             /* cache lines accessed */
	uint64_t cycles[RV32_TIME_CASES];
	uint64_t lines_missed;
	/* Warp-instructions per cycle and core, in thousandths. */
	uint32_t ipc_thousandths[RV32_TIME_CASES];
};

/* rv32_time_preset() returns the parameters of a preset by name, rv32_time_preset_at() by index 0,
 * 1, ...; NULL: no such preset. */
const struct rv32_time_parameters *rv32_time_preset(const char *name);
const struct rv32_time_parameters *rv32_time_preset_at(size_t index);

struct rv32_time;

/* Creates a model for the code that a core will run. Returns NULL if memory is short or a parameter
 * is out of range. */
struct rv32_time *rv32_time_create(const struct rv32_time_parameters *parameters,
				   const uint32_t *words, size_t count, uint32_t base);
void rv32_time_destroy(struct rv32_time *time);

/* Trace hook for a launch; `context` is the struct rv32_time. */
void rv32_time_trace(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
		     const uint32_t (*registers)[RV32_LANES]);

/* Computes the result for the instructions traced so far. */
void rv32_time_read(const struct rv32_time *time, struct rv32_time_result *result);

#endif
