/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of the sources (row.h), for rows without a published value, or without a mechanism in the
 * model. Quantity and x identify a row. */
#ifndef MODEL_PUBLISHED_H
#define MODEL_PUBLISHED_H

#include <stdbool.h>

#include "model/row.h"

struct model_published {
	const char *item, *quantity, *x, *unit;
	double value;         /* NAN: withheld */
	double tolerance;     /* percent; 0: not judged */
	enum model_kind kind; /* MODEL_PLAIN: not predicted */
};

/* Returns NULL past the last one. */
const struct model_published *model_published_at(unsigned index);

/* Ignores case, and whether a blank, '-', '_' or ',' separates words. */
bool model_name_same(const char *quantity, const char *x, const char *other, const char *other_x);

/* Sets fields of a row that has an entry here, but no published value yet. */
void model_published_attach(struct model_row *row);

/* Emits figures without a mechanism; their `value` is NAN. */
void model_published_data(const struct model_sink *sink);

#endif
