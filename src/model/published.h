/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures that the sources state. Some belong to rows that the parts emit without a published
 * value; others have no mechanism in the model. Quantity and x identify a row. */
#ifndef MODEL_PUBLISHED_H
#define MODEL_PUBLISHED_H

#include <stdbool.h>

#include "model/row.h"

struct model_published {
	const char *item, *quantity, *x, *unit;
	double value;         /* NAN: withheld */
	double tolerance;     /* percent; 0: not judged */
	enum model_kind kind; /* MODEL_PLAIN: data without a prediction */
};

/* Returns the entry; NULL: past the last. */
const struct model_published *model_published_at(unsigned index);

/* Returns whether two rows have the same quantity and x, ignoring case, and which of blank, '-',
 * '_' and ',' separate the words. */
bool model_name_same(const char *quantity, const char *x, const char *other, const char *other_x);

/* Sets published, tolerance and kind of a row that has an entry but no published value. */
void model_published_attach(struct model_row *row);

/* Emits the published figures for which the model has no mechanism. Their `value` is NAN. */
void model_published_data(const struct model_sink *sink);

#endif
