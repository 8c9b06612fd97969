/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints rows of a benchmark: a table for people, or one JSON object a line for machines. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of a table. Of the fields after `value`, texts that are NULL and numbers that are 0 are not
 * printed: they were not measured, or have no meaning. */
struct report_row {
	const char *bench, *name; /* `name` is the case */
	const char *metric, *unit;
	double value;
	const char *lab, *contender;
	const char *peer; /* contender that this one is compared with, or NULL */
	double peer_value;
	const char *x_name; /* x axis of a plot: "bytes", "loss_percent", ... */
	double x;
	double mean_us, p50_us, p99_us; /* times of one operation */
	double near_cpu, far_cpu;       /* CPU time of either process */
	const char *cpu_unit;           /* "ns/KB", "ns/op" */
	/* "near" or "far": distance of the two cores during the measurement */
	const char *label;
	unsigned samples; /* number of samples that the medians cover */
	const char *note; /* a remark on this value */
	struct {
		const char *name; /* NULL ends the list */
		double value;
	} more[6];
};

/* Begins the output. With `json`, rows are JSON objects, and there is no heading. */
void report_begin(bool json, const char *heading);
void report_row(const struct report_row *row);

/* Prints a line for people. With --json it goes to standard error, otherwise to the table. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sorts the values and returns the middle one. count >= 1. */
double report_median(double *values, size_t count);

#endif
