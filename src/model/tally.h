/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of rows with a measured value, by family: a set of quantities with one goal. */
#ifndef MODEL_TALLY_H
#define MODEL_TALLY_H

#include <stdbool.h>

#include "model/row.h"

#define MODEL_TALLY_FAMILIES 24
#define MODEL_TALLY_KNEES    16

struct model_tally {
	struct {
		char name[64];
		unsigned rows;
		/* of absolute errors in percent */
		double sum, least, most;
	} families[MODEL_TALLY_FAMILIES];
	unsigned count;
	unsigned rows; /* with a measured value and an error */
	double sum;
	unsigned winners, winners_right;
	double knee_model[MODEL_TALLY_KNEES], knee_judged[MODEL_TALLY_KNEES];
	unsigned knees;
};

void model_tally_add(struct model_tally *t, const struct model_row *row);

/* Emits per family the mean of the absolute errors, with extremes; also right orders of knees, and
 * right fastest ways. */
void model_tally_emit(const struct model_tally *t, const struct model_sink *sink);

#endif
