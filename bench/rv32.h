/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench rv32`. */
#ifndef BENCH_RV32_H
#define BENCH_RV32_H

#include "bench/options.h"
#include "engine/rv32_engine.h"

#define RV32_BENCH_BYTES (4u << 20)                    /* memory of each engine */
#define RV32_BENCH_OUT   (3u << 20)                    /* offset of a kernel's result */
#define RV32_BENCH_N     (256u)                        /* rows of matrices and image */
#define RV32_BENCH_ROWS  (RV32_BENCH_N * RV32_BENCH_N) /* elements of a matrix */

/* OpenCL C. Each NAME also has NAME_serial, in which one work-item computes all. Parameters: input
 * a, input b, output, n. */
extern const char rv32_bench_kernels[], rv32_bench_posts[];

struct rv32_bench_end {
	struct engine *engine;
	struct engine_program *program;
	uint8_t *memory;
	char why[ENGINE_TEXT_BYTES]; /* the reason of a failure */
};

/* Opens an engine with program `text`; false: `why` has the reason. The caller always calls
 * rv32_bench_close. */
bool rv32_bench_open(struct rv32_bench_end *e, const char *engine, const char *text);
void rv32_bench_close(struct rv32_bench_end *e);

struct rv32_bench_size {
	uint32_t global[2], local[2];
};

/* Returns the CPU ns of this process or, with `children`, of those that it waited for. */
double rv32_bench_cpu_ns(bool children);

/* Returns the CPU time in ns, which other programs disturb less than elapsed time, or 0 with the
 * reason in `why`. */
double rv32_bench_launch(struct rv32_bench_end *e, const char *kernel,
			 const struct rv32_bench_size *size);

/* Runs the program's NAME_serial under qemu-riscv32; copies its result to `out`. Returns CPU ns
 * with the process's start; 0: failed or not installed (rv32_qemu.c). */
double rv32_qemu_run(const struct rv32_bench_end *e, const char *kernel, uint8_t *out,
		     size_t out_bytes);

/* Each prints its rows and returns an exit status. */
int rv32_bench_cases(const struct bench_options *o);
int rv32_bench_posting(const struct bench_options *o);
int rv32_bench_latency(const struct bench_options *o);

#endif
