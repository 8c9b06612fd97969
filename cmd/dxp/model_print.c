/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/model_print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "cmd/dxp/command.h"

const char *model_kind_name(enum model_kind kind)
{
	static const char *const names[] = {"", "given", "calibrated-on", "aside", "shape"};

	return names[kind];
}

/* Formats a number with 4 significant digits, or without decimals if it is whole or at least 10000.
 * The text of NAN is "-". */
static const char *number(double v, char *out, size_t bytes)
{
	if (isnan(v))
		snprintf(out, bytes, "-");
	else if (fabs(v) >= 10000 || v == floor(v))
		snprintf(out, bytes, "%.0f", v);
	else
		snprintf(out, bytes, "%.4g", v);
	return out;
}

/* Returns the model's value in seconds; cycles are at the clock of the item's hardware. NAN: no
 * time. */
static double seconds_of(const struct model_print *p, const struct model_row *row)
{
	static const struct {
		const char *unit;
		double seconds;
	} times[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"s", 1}};
	bool xpu = strncmp(row->item, "X-", 2) == 0;
	double mhz = (double)(xpu ? p->parameters->xpu_mhz : p->parameters->clock_mhz);

	if (strcmp(row->unit, "cycles") == 0)
		return row->value / mhz / 1e6;
	for (size_t i = 0; i < ARRAY_COUNT(times); i++)
		if (strcmp(row->unit, times[i].unit) == 0)
			return row->value * times[i].seconds;
	return NAN;
}

static void point_print(const struct model_print *p, const char *between)
{
	char value[40];

	for (unsigned i = 0; i < p->grid->count; i++) {
		const struct model_parameter *row = p->grid->lists[i].row;
		printf("%s%s=%s", i ? between : "", row->name,
		       model_parameter_print(row, model_grid_value(p->grid, p->point, i), value,
					     sizeof(value)));
	}
}

static void table_row(struct model_print *p, const struct model_row *row)
{
	char value[32], low[32], high[32], published[32], error[32], seconds[32];

	if (p->rows == 0)
		printf("%-6s %-28s %-9s %10s %-7s %10s %10s %10s %7s %10s  %s\n", "item",
		       "quantity", "x", "model", "unit", "low", "high", "published", "error%",
		       "seconds", "kind");
	if (p->grid->count && (p->rows == 0 || p->shown_point != p->point)) {
		printf("-- ");
		point_print(p, " ");
		printf("\n");
	}
	p->shown_point = p->point;
	snprintf(error, sizeof(error), isnan(model_row_error(row)) ? "-" : "%+.1f",
		 model_row_error(row));
	printf("%-6s %-28s %-9s %10s %-7s %10s %10s %10s %7s %10s  %s%s%s\n", row->item,
	       row->quantity, row->x, number(row->value, value, sizeof(value)), row->unit,
	       number(row->low, low, sizeof(low)), number(row->high, high, sizeof(high)),
	       number(row->published, published, sizeof(published)), error,
	       number(seconds_of(p, row), seconds, sizeof(seconds)), model_kind_name(row->kind),
	       row->note ? " " : "", row->note ? row->note : "");
}

static void tsv_row(struct model_print *p, const struct model_row *row)
{
	char value[32], low[32], high[32], published[32], error[32], seconds[32];

	if (p->rows == 0)
		printf("item\tquantity\tx\tunit\tpublished\tmodel\terror%%\tlow\thigh\tkind\t"
		       "assumptions\tseconds\tpoint\tnote\n");
	snprintf(error, sizeof(error), isnan(model_row_error(row)) ? "-" : "%+.1f",
		 model_row_error(row));
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", row->item, row->quantity, row->x,
	       row->unit, number(row->published, published, sizeof(published)),
	       number(row->value, value, sizeof(value)), error, number(row->low, low, sizeof(low)),
	       number(row->high, high, sizeof(high)), model_kind_name(row->kind), row->assumptions,
	       number(seconds_of(p, row), seconds, sizeof(seconds)));
	point_print(p, " ");
	printf("\t%s\n", row->note ? row->note : "");
}

static json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void json_row(struct model_print *p, const struct model_row *row)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "item", row->item,
		"quantity", row->quantity, "x", row->x, "unit", row->unit, "model",
		json_number(row->value), "low", json_number(row->low), "high",
		json_number(row->high), "published", json_number(row->published), "error_percent",
		json_number(model_row_error(row)), "kind", model_kind_name(row->kind),
		"assumptions", row->assumptions, "seconds", json_number(seconds_of(p, row)));
	char value[40];

	if (o && row->note)
		json_object_set_new(o, "note", json_string(row->note));
	for (unsigned i = 0; o && i < p->grid->count; i++) {
		const struct model_parameter *of = p->grid->lists[i].row;
		int64_t v = model_grid_value(p->grid, p->point, i);
		json_object_set_new(o, of->name,
				    of->choices ? json_string(model_parameter_print(of, v, value,
										    sizeof(value)))
						: json_integer(v));
	}
	/* write errors are reported when the program exits */
	if (o) {
		json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
		putchar('\n');
	} else {
		p->failed = true;
	}
	json_decref(o);
}

void model_print_row(void *context, const struct model_row *row)
{
	struct model_print *p = context;

	switch (p->format) {
	case MODEL_TABLE: table_row(p, row); break;
	case MODEL_TSV: tsv_row(p, row); break;
	case MODEL_JSON: json_row(p, row); break;
	}
	p->rows++;
}

bool model_print_end(struct model_print *p)
{
	if (p->failed)
		print_fail("not enough memory to print a row");
	return !p->failed;
}
