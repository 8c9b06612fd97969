/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of the model's output, and the function that receives it. The command prints rows as
 * table, TSV or JSON. */
#ifndef MODEL_ROW_H
#define MODEL_ROW_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Relation of a row to its published value. */
enum model_kind {
	MODEL_PLAIN,         /* an answer without a published figure */
	MODEL_GIVEN,         /* published; nothing was set from it */
	MODEL_CALIBRATED_ON, /* a free or derived parameter was set from this figure */
	MODEL_WITHHELD,      /* the figure is published but withheld: `published` is NAN */
	MODEL_SHAPE,         /* a sentence as an inequality; value 1: it holds, 0: it fails */
};

#define MODEL_ROW_X 40 /* bytes of an x: "16x64x256" and names fit */

struct model_row {
	const char *item;     /* item of the catalogue, "C-42"; "": none */
	const char *quantity; /* "latency NAP-imm"; the same in each run */
	char x[MODEL_ROW_X];  /* "64", "4x2"; "": none */
	const char *unit;
	double value; /* the named prediction */
	/* extremes over all settings of the switches; equal to `value` if there are none */
	double low, high;
	double published; /* NAN: none, or withheld */
	double tolerance; /* allowed error of a given row, percent; 0: not judged */
	enum model_kind kind;
	const char *assumptions; /* names of the A and F parameters used; "": none */
	const char *note;        /* a sentence; NULL: none */
};

/* Receives rows. A row is valid only during the call. */
struct model_sink {
	void (*row)(void *context, const struct model_row *row);
	void *context;
};

static inline void model_emit(const struct model_sink *sink, const struct model_row *row)
{
	sink->row(sink->context, row);
}

/* Returns a row without x, interval, published value and assumptions. */
static inline struct model_row model_row_plain(const char *item, const char *quantity,
					       const char *unit, double value)
{
	return (struct model_row){
		.item = item,
		.quantity = quantity,
		.unit = unit,
		.value = value,
		.low = value,
		.high = value,
		.published = NAN,
		.assumptions = "",
	};
}

/* Returns a row for a sentence as an inequality: 1 holds, 0 fails. */
static inline struct model_row model_row_shape(const char *item, const char *quantity, double holds)
{
	struct model_row row = model_row_plain(item, quantity, "", holds);

	row.kind = MODEL_SHAPE;
	row.published = 1;
	return row;
}

/* Returns whether the values number choices, so that an error in percent has no meaning. */
static inline bool model_row_is_choice(const struct model_row *row)
{
	return strcmp(row->unit, "way") == 0;
}

/* Returns a row's error in percent of its published value; NAN: that is missing or 0, or the values
 * number choices. */
static inline double model_row_error(const struct model_row *row)
{
	return row->published != 0 && !model_row_is_choice(row)
		       ? 100 * (row->value / row->published - 1)
		       : NAN;
}

#endif
