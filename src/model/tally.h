/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums errors of judged rows by family. A family is a set of quantities for which the model has a
 * goal. */
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
		double sum, least, most; /* of |error|, percent */
	} families[MODEL_TALLY_FAMILIES];
	unsigned count;
	unsigned rows; /* judged rows with an error */
	double sum;
	unsigned winners, winners_right;
	double knee_model[MODEL_TALLY_KNEES], knee_judged[MODEL_TALLY_KNEES];
	unsigned knees;
};

/* Adds a judged row. */
void model_tally_add(struct model_tally *t, const struct model_row *row);

/* Emits a row for each family: the mean of |error|, with the least and the largest; Also emits the
 * share of pairs of knees that are in the right order, and the share of winners that are right. */
void model_tally_emit(const struct model_tally *t, const struct model_sink *sink);

#endif
