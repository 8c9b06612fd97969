/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints rows, and flushes each to show progress. */
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
	printf("%s\n%-34s %-22s %9s %-8s %6s %8s %8s %8s %8s %-6s %-5s %s\n", heading, "case",
	       "contender", "value", "unit", "ratio", "p50 us", "p99 us", "CPU near", "CPU far",
	       "unit", "cores", "note");
	fflush(stdout);
}

static void text_set(json_t *o, const char *key, const char *text)
{
	if (text)
		json_object_set_new(o, key, json_string(text));
}

static void number_set(json_t *o, const char *key, double value)
{
	if (value != 0)
		json_object_set_new(o, key, json_real(value));
}

static double ratio_of(const struct report_row *r)
{
	return r->peer_value != 0 ? r->value / r->peer_value : 0;
}

static void row_json(const struct report_row *r)
{
	json_t *o = json_object();

	text_set(o, "bench", r->bench);
	text_set(o, "lab", r->lab);
	text_set(o, "case", r->name);
	text_set(o, "contender", r->contender);
	text_set(o, "metric", r->metric);
	json_object_set_new(o, "value", json_real(r->value));
	text_set(o, "unit", r->unit);
	if (r->peer) {
		text_set(o, "peer", r->peer);
		json_object_set_new(o, "peer_value", json_real(r->peer_value));
		json_object_set_new(o, "ratio", json_real(ratio_of(r)));
	}
	if (r->x_name)
		json_object_set_new(o, r->x_name, json_real(r->x));
	number_set(o, "mean_us", r->mean_us);
	number_set(o, "p50_us", r->p50_us);
	number_set(o, "p99_us", r->p99_us);
	number_set(o, "near_cpu", r->near_cpu);
	number_set(o, "far_cpu", r->far_cpu);
	text_set(o, "cpu_unit", r->cpu_unit);
	for (size_t i = 0; i < sizeof(r->more) / sizeof(r->more[0]) && r->more[i].name; i++)
		json_object_set_new(o, r->more[i].name, json_real(r->more[i].value));
	text_set(o, "cores", r->label);
	number_set(o, "samples", r->samples);
	text_set(o, "note", r->note);
	json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(o);
}

static void number_text(double value, int width)
{
	if (value == 0)
		printf(" %*s", width, "");
	else
		printf(" %*.*f", width, value < 10 ? 2 : value < 1000 ? 1 : 0, value);
}

static void row_text(const struct report_row *r)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s%s", r->lab ? r->lab : "", r->lab ? " " : "", r->name);
	printf("%-34s %-22s %9.3f %-8s", name, r->contender ? r->contender : r->metric, r->value,
	       r->unit);
	number_text(r->peer ? ratio_of(r) : 0, 6);
	number_text(r->p50_us, 8);
	number_text(r->p99_us, 8);
	number_text(r->near_cpu, 8);
	number_text(r->far_cpu, 8);
	printf(" %-6s %-5s", r->cpu_unit ? r->cpu_unit : "", r->label ? r->label : "");
	for (size_t i = 0; i < sizeof(r->more) / sizeof(r->more[0]) && r->more[i].name; i++)
		printf(" %s=%.4g", r->more[i].name, r->more[i].value);
	printf(" %s\n", r->note ? r->note : "");
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

	va_start(arguments, format);
	vfprintf(as_json ? stderr : stdout, format, arguments);
	va_end(arguments);
	fputc('\n', as_json ? stderr : stdout);
	fflush(NULL);
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
