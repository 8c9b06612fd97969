/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a benchmark's rows: a table, or JSON objects, one a line. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row of a report. After `value`, NULL texts and zero numbers are not printed: they were not
 * measured, or have no meaning. */
struct report_row {
	const char *bench, *name; /* `name` is the case */
	const char *metric, *unit;
	double value;
	const char *lab, *contender;
	const char *peer; /* reference contender, or NULL */
	double peer_value;
	const char *x_name; /* plot's x axis: "bytes", "loss_percent", ... */
	double x;
	double mean_us, p50_us, p99_us; /* times of one operation */
	double near_cpu, far_cpu;       /* CPU time of either process */
	const char *cpu_unit;           /* "ns/KB", "ns/op" */
	/* "near" or "far": the cores' distance */
	const char *label;
	unsigned samples; /* covered by the medians */
	const char *note; /* a remark on this value */
	struct {
		const char *name; /* NULL ends the list */
		double value;
	} more[6];
};

/* Begins the output. With `json`, rows are JSON objects, and there is no heading. */
void report_begin(bool json, const char *heading);
void report_row(const struct report_row *row);

/* Goes to the table, or with --json to standard error. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

double report_median(double *values, size_t count);

#endif
