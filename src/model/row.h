/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of the model's output, and the function that receives lines. The command prints them as a
 * table, TSV or JSON.
 *
 * A source is a publication whose figures the model predicts. Its statements are items of a
 * catalogue, such as C-42 (docs/reference/seeds.md). */
#ifndef MODEL_ROW_H
#define MODEL_ROW_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Relation of a row to a published figure. */
enum model_kind {
	MODEL_PLAIN,         /* the row has no published figure */
	MODEL_GIVEN,         /* the figure is published, and no parameter was set from it */
	MODEL_CALIBRATED_ON, /* a free or derived parameter was set from the published figure */
	MODEL_WITHHELD,      /* the figure is published but withheld, so `published` is NAN */
	/* a sentence of a source that is an inequality; value 1: it holds, 0: it does not */
	MODEL_SHAPE,
};

/* bytes of the longest x, such as "16x64x256" or a name */
#define MODEL_ROW_X 40

struct model_row {
	const char *item; /* item of the catalogue, such as "C-42"; "": none */
	/* name, such as "latency NAP-imm"; it is the same in each run */
	const char *quantity;
	/* point at which the quantity is given, such as "64" or "4x2"; "": none */
	char x[MODEL_ROW_X];
	const char *unit;
	double value; /* the value under the named settings */
	/* lowest and highest value over all settings; equal to `value` if no setting is open */
	double low, high;
	double published; /* published figure; NAN: none, or withheld */
	/* permitted error of a MODEL_GIVEN row in percent; 0: its error is not judged */
	double tolerance;
	enum model_kind kind;
	/* names of the parameters with mark A or F that were used; "": none */
	const char *assumptions;
	const char *note; /* a sentence for the reader; NULL: none */
};

/* Receives rows. A row is valid only during the call of `row`. */
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

/* Returns a row for a sentence of a source that is an inequality. `holds`: 1 if the inequality is
 * true, else 0. */
static inline struct model_row model_row_shape(const char *item, const char *quantity, double holds)
{
	struct model_row row = model_row_plain(item, quantity, "", holds);

	row.kind = MODEL_SHAPE;
	row.published = 1;
	return row;
}

/* Returns true if the row's values are numbers of choices, so that an error in percent has no
 * meaning. */
static inline bool model_row_is_choice(const struct model_row *row)
{
	return strcmp(row->unit, "way") == 0;
}

/* Returns a row's error in percent of its published figure. NAN: the figure is missing or 0, or the
 * values are numbers of choices. */
static inline double model_row_error(const struct model_row *row)
{
	return row->published != 0 && !model_row_is_choice(row)
		       ? 100 * (row->value / row->published - 1)
		       : NAN;
}

#endif
