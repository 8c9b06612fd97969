/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures that the sources state, for rows that parts emit without them, and figures without a
 * mechanism. A row is named by quantity and x. */
#ifndef MODEL_PUBLISHED_H
#define MODEL_PUBLISHED_H

#include <stdbool.h>

#include "model/row.h"

struct model_published {
	const char *item, *quantity, *x, *unit;
	double value;         /* NAN: kept aside */
	double tolerance;     /* percent; 0: not judged */
	enum model_kind kind; /* MODEL_PLAIN: data, without a prediction */
};

/* Returns the entry; NULL past the last. */
const struct model_published *model_published_at(unsigned index);

/* Returns whether two names of a quantity or an x are the same: case does not matter, and a
 * blank, '-' and '_' are alike. */
bool model_name_same(const char *a, const char *b);

/* Sets published, tolerance and kind of a row that has an entry and no published value. */
void model_published_attach(struct model_row *row);

/* Emits the figures without a mechanism; their value is NAN. */
void model_published_data(const struct model_sink *sink);

#endif
