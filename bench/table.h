/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one case: contenders alternate (A B C, A B C, ...), with a row of medians each. Each sample
 * starts with the latency between the two cores; medians use only the most frequent core distance,
 * which the row names. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/lab.h"
#include "bench/options.h"
#include "bench/peer.h"

#define CONTENDERS_MAX   16
#define ROUNDS_MAX       BENCH_ROUNDS_MAX
#define TABLE_BYTES_TEXT 32

enum table_metric {
	TABLE_GOODPUT,    /* GB/s of 1e9 payload bytes */
	TABLE_ROUND_TRIP, /* median, us per operation */
	TABLE_MEAN,       /* mean, us per operation */
	TABLE_RATE,       /* millions of operations per second */
};

struct table_case {
	const char *bench, *name;
	const struct lab *lab;
	enum table_metric metric;
	struct work work;
	const struct contender *contenders;
	size_t count; /* 1 .. CONTENDERS_MAX */
	/* index of the reference contender; count: none */
	size_t reference;
	const char *x_name;
	double x;
	const struct bench_options *options;
};

/* Prints a row per selected contender, with the reason if it failed, is not built or too slow.
 * Returns 1 if the first, this project's, failed every time; otherwise 0. */
int table_case_run(const struct table_case *c, const struct raw_ends *ends);

/* "4 B", "64 KiB", "1 MiB"; returns out. */
const char *table_bytes(uint64_t bytes, char out[TABLE_BYTES_TEXT]);

#endif
