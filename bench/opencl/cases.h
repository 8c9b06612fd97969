/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring program of `dxp bench opencl`: ordinary OpenCL without code for a fabric, so the same
 * code measures every driver. */
#ifndef BENCH_OPENCL_CASES_H
#define BENCH_OPENCL_CASES_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICES     2
#define SAMPLES_MAX 20000

struct bench {
	cl_context context;
	cl_device_id devices[DEVICES]; /* twice the same if there is only one */
	cl_command_queue queues[DEVICES],
		loose[DEVICES]; /* queues: in order; loose: out of order */
	cl_program program;
	cl_kernel empty, add[DEVICES];
	uint64_t samples[SAMPLES_MAX]; /* ns of an operation */
	uint32_t sample_count;
	char why[256]; /* reason of the last failure */
};

struct bench_case {
	const char *name;
	/* Runs `count` operations on `bytes` bytes and checks their results. Returns 0, or -1 with
	 * the reason in `why`. */
	int (*run)(struct bench *b, size_t bytes, uint32_t count);
};

/* Ends with a NULL name. */
extern const struct bench_case bench_cases[], bench_memory_cases[];

uint64_t bench_now_ns(void);
void bench_sample(struct bench *b, uint64_t ns);

int bench_fail(struct bench *b, const char *what, cl_int error);
#define TRY(b, what, call)                                  \
	do {                                                \
		cl_int error_ = (call);                     \
		if (error_ != CL_SUCCESS)                   \
			return bench_fail(b, what, error_); \
	} while (0)

#endif
