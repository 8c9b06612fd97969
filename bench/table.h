/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one case of a benchmark. The contenders alternate (A B C, A B C, ...) for a number of
 * rounds, and each gets a row of medians. Before each sample the latency between the two cores is
 * measured. Medians use only the samples with the most frequent core distance, which the row
 * names. */
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
	TABLE_ROUND_TRIP, /* median time of an operation, us */
	TABLE_MEAN,       /* mean time of an operation, us */
	TABLE_RATE,       /* millions of operations per second */
};

struct table_case {
	const char *bench, *name;
	const struct lab *lab;
	enum table_metric metric;
	struct work work;
	const struct contender *contenders;
	size_t count; /* 1 .. CONTENDERS_MAX */
	/* index of the contender that the others are compared with; count: none */
	size_t reference;
	const char *x_name;
	double x;
	const struct bench_options *options;
};

/* Prints a row for each contender that the options select. Prints nothing if the options exclude
 * the case. If a contender failed, is not built or is too slow, its row contains the reason.
 * Returns 1 if the first contender, which is this project's, failed every time; otherwise 0. */
int table_case_run(const struct table_case *c, const struct raw_ends *ends);

/* Formats "4 B", "64 KiB", "1 MiB"; returns out. */
const char *table_bytes(uint64_t bytes, char out[TABLE_BYTES_TEXT]);

#endif
