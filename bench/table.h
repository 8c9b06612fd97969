/* SPDX-License-Identifier: BSD-3-Clause */
/* One case of a benchmark: the contenders in turn (A B C, A B C, ...), as many rounds as asked, and
 * a row of medians for each. The core-to-core probe runs before each sample; medians are of the
 * samples taken while the cores were as they were for most, which the row names. */
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
	size_t count;     /* 1 .. CONTENDERS_MAX */
	size_t reference; /* the contender that others are divided by; count: none */
	const char *x_name;
	double x;
	const struct bench_options *options;
};

/* Prints a row for each contender that the options want; nothing for a case that they do not. One
 * that fails, is not built or is too slow has a row that says so. Returns an exit status: 1 when
 * the first contender, which is ours, failed every time. */
int table_case_run(const struct table_case *c, const struct raw_ends *ends);

/* "4 B", "64 KiB", "1 MiB"; returns out. */
const char *table_bytes(uint64_t bytes, char out[TABLE_BYTES_TEXT]);

#endif
