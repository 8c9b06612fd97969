/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures that the sources (row.h) state. Some belong to rows that the parts emit without a
 * published value. For others the model has no mechanism. Quantity and x identify a row. */
#ifndef MODEL_PUBLISHED_H
#define MODEL_PUBLISHED_H

#include <stdbool.h>

#include "model/row.h"

struct model_published {
	const char *item, *quantity, *x, *unit;
	double value;         /* NAN: the figure is withheld */
	double tolerance;     /* percent; 0: the row's error is not judged */
	enum model_kind kind; /* MODEL_PLAIN: a figure that the model does not predict */
};

/* Returns entry `index`; NULL: `index` is past the last one. */
const struct model_published *model_published_at(unsigned index);

/* Returns true if two rows have the same quantity and x. Ignores case, and whether a blank, '-',
 * '_' or ',' separates two words. */
bool model_name_same(const char *quantity, const char *x, const char *other, const char *other_x);

/* Sets `published`, `tolerance` and `kind` of a row that has an entry here but no published value
 * yet. */
void model_published_attach(struct model_row *row);

/* Emits the published figures for which the model has no mechanism. Their `value` is NAN. */
void model_published_data(const struct model_sink *sink);

#endif
