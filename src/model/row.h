/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of the model's output, printed as a table, TSV or JSON.
 *
 * A source is a publication whose figures the model predicts; its statements are items such as C-42
 * (docs/reference/seeds.md). */
#ifndef MODEL_ROW_H
#define MODEL_ROW_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Its relation to a published figure. */
enum model_kind {
	MODEL_PLAIN,         /* no published figure */
	MODEL_GIVEN,         /* published, and no parameter was set from it */
	MODEL_CALIBRATED_ON, /* a free or derived parameter was set from it */
	MODEL_WITHHELD,      /* published, but `published` is NAN */
	/* inequality in a source; 1: it holds, 0: it does not */
	MODEL_SHAPE,
};

/* longest x, such as "16x64x256" or a name */
#define MODEL_ROW_X 40

struct model_row {
	const char *item; /* such as "C-42"; "": none */
	/* such as "latency NAP-imm"; the same in each run */
	const char *quantity;
	/* such as "64" or "4x2"; "": none */
	char x[MODEL_ROW_X];
	const char *unit;
	double value; /* under the named settings */
	/* over all settings; `value` if none is open */
	double low, high;
	double published; /* NAN: none, or withheld */
	/* percent, of MODEL_GIVEN; 0: not judged */
	double tolerance;
	enum model_kind kind;
	/* parameters with mark A or F; "": none */
	const char *assumptions;
	const char *note; /* for the reader; NULL: none */
};

/* A row is valid only during the call. */
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

/* Returns a row for an inequality in a source; `holds`: 1 or 0. */
static inline struct model_row model_row_shape(const char *item, const char *quantity, double holds)
{
	struct model_row row = model_row_plain(item, quantity, "", holds);

	row.kind = MODEL_SHAPE;
	row.published = 1;
	return row;
}

/* Values are numbers of choices, so an error in percent has no meaning. */
static inline bool model_row_is_choice(const struct model_row *row)
{
	return strcmp(row->unit, "way") == 0;
}

/* Returns percent of the published figure; NAN: missing, 0, or numbers of choices. */
static inline double model_row_error(const struct model_row *row)
{
	return row->published != 0 && !model_row_is_choice(row)
		       ? 100 * (row->value / row->published - 1)
		       : NAN;
}

#endif
