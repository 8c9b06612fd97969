/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the parts of a round trip, for `dxp bench latency --parts`. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "bench/lab.h"
#include "bench/options.h"

/* A lab_body; `context` is a struct bench_options. Prints the parts, their sum, and the whole round
 * trip with and without stamps. */
int latency_parts_run(const struct lab *lab, const struct raw_ends *ends, void *context);

#endif
