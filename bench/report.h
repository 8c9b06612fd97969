/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a benchmark: as a table for people, as one JSON object a line for machines. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_row {
	const char *bench, *name; /* `name` is the case */
	const char *metric, *unit;
	double value;
	const char *peer; /* what ran beside it, or NULL */
	double peer_value;
};

/* `json`: objects, and no heading. */
void report_begin(bool json, const char *heading);
void report_row(const struct report_row *row);

/* A line for people only. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sorts and returns the middle one. count >= 1. */
double report_median(double *values, size_t count);

#endif
