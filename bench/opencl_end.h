/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a process per OpenCL driver, which measures one case at a time. */
#ifndef BENCH_OPENCL_END_H
#define BENCH_OPENCL_END_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "bench/raw_udp.h"

enum opencl_driver { OPENCL_DXP, OPENCL_LOCAL };

struct opencl_end {
	pid_t pid;
	FILE *to, *from;
	char why[160]; /* the reason of a failure */
};

struct opencl_figures {
	double p50_us, p99_us, mean_us;
};

/* Start the process, or run one case. On failure return false and set `why`. The caller calls
 * opencl_end_stop in either case, even if the process was never started. */
bool opencl_end_start(struct opencl_end *e, enum opencl_driver driver);
bool opencl_end_run(struct opencl_end *e, const char *name, uint64_t bytes, uint32_t count,
		    struct opencl_figures *out);
void opencl_end_stop(struct opencl_end *e);

const struct raw_ends *opencl_loopback(void);

#endif
