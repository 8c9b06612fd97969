/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the errors of rows that have a measured value, by family. A family is a set of quantities
 * for which the model has one goal. */
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
		/* of the absolute errors in percent: sum, smallest and largest */
		double sum, least, most;
	} families[MODEL_TALLY_FAMILIES];
	unsigned count;
	unsigned rows; /* number of rows with a measured value and an error */
	double sum;
	unsigned winners, winners_right;
	double knee_model[MODEL_TALLY_KNEES], knee_judged[MODEL_TALLY_KNEES];
	unsigned knees;
};

/* Adds a row that has a measured value. */
void model_tally_add(struct model_tally *t, const struct model_row *row);

/* Emits a row for each family: the mean of the absolute errors, with the smallest and the largest.
 * Also emits the share of pairs of knees that are in the right order, and the share of fastest ways
 * that are right. */
void model_tally_emit(const struct model_tally *t, const struct model_sink *sink);

#endif
