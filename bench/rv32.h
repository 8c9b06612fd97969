/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench rv32`. */
#ifndef BENCH_RV32_H
#define BENCH_RV32_H

#include "bench/options.h"
#include "engine/rv32_engine.h"

#define RV32_BENCH_BYTES (4u << 20) /* memory of each engine */
#define RV32_BENCH_OUT   (3u << 20) /* offset of a kernel's result in this memory */
#define RV32_BENCH_N     (256u)     /* rows of matrices, and of the image */
#define RV32_BENCH_ROWS  (RV32_BENCH_N * RV32_BENCH_N) /* elements of a matrix */

/* The kernels, in OpenCL C. Each kernel NAME has a form for many work-items, and a form
 * NAME_serial, in which one work-item computes all. Parameters: input a, input b, output, n. */
extern const char rv32_bench_kernels[], rv32_bench_posts[];

/* An engine with memory and the program of the benchmark. */
struct rv32_bench_end {
	struct engine *engine;
	struct engine_program *program;
	uint8_t *memory;
	char why[ENGINE_TEXT_BYTES]; /* the reason of a failure */
};

/* Open an engine with `text` as its program. If it returns false, `why` has the reason. The caller
 * calls rv32_bench_close in either case. */
bool rv32_bench_open(struct rv32_bench_end *e, const char *engine, const char *text);
void rv32_bench_close(struct rv32_bench_end *e);

/* Size of a kernel's launch. 0 counts as 1. */
struct rv32_bench_size {
	uint32_t global[2], local[2];
};

/* Returns the CPU time in ns of this process, or, if `children` is set, of the processes that it
 * waited for. */
double rv32_bench_cpu_ns(bool children);

/* Runs a kernel of the four parameters. Returns its CPU time in ns, or 0 with the reason in `why`.
 * Other programs disturb the CPU time less than the elapsed time. */
double rv32_bench_launch(struct rv32_bench_end *e, const char *kernel,
			 const struct rv32_bench_size *size);

/* rv32_qemu.c: runs NAME_serial of the linked program under qemu-riscv32. Copies `out_bytes` of its
 * result to `out`. Returns the CPU time in ns, with the start of the process; 0 if it failed or is
 * not installed. */
double rv32_qemu_run(const struct rv32_bench_end *e, const char *kernel, uint8_t *out,
		     size_t out_bytes);

/* The parts; each prints its rows and returns an exit status. */
int rv32_bench_cases(const struct bench_options *o);
int rv32_bench_posting(const struct bench_options *o);
int rv32_bench_latency(const struct bench_options *o);

#endif
