/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing rows; each is flushed, so that a long run shows progress. */
#include "bench/report.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool as_json;

void report_begin(bool json, const char *heading)
{
	as_json = json;
	if (json)
		return;
	printf("%s\n%-26s %-18s %12s %-8s %-22s %12s %7s\n", heading, "case", "metric", "value",
	       "unit", "beside", "its value", "ratio");
	fflush(stdout);
}

static void row_json(const struct report_row *r)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:f, s:s}", "bench", r->bench, "case", r->name,
			      "metric", r->metric, "value", r->value, "unit", r->unit);

	if (o && r->peer) {
		json_object_set_new(o, "peer", json_string(r->peer));
		json_object_set_new(o, "peer_value", json_real(r->peer_value));
		json_object_set_new(o, "ratio",
				    json_real(r->peer_value != 0 ? r->value / r->peer_value : 0));
	}
	json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(o);
}

static void row_text(const struct report_row *r)
{
	printf("%-26s %-18s %12.3f %-8s", r->name, r->metric, r->value, r->unit);
	if (r->peer)
		printf(" %-22s %12.3f %7.2f", r->peer, r->peer_value,
		       r->peer_value != 0 ? r->value / r->peer_value : 0);
	putchar('\n');
}

void report_row(const struct report_row *row)
{
	if (as_json)
		row_json(row);
	else
		row_text(row);
	fflush(stdout);
}

void report_note(const char *format, ...)
{
	va_list arguments;

	if (as_json)
		return;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double report_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), double_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
