/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation table: the rows of all parts, each beside the figure that a source (row.h) states.
 * With a file of measured values (--judge), it also has measured values of figures that are
 * withheld. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <stdbool.h>

#include "model/judge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "model/tally.h"

#define MODEL_CHECK_FAILED 32 /* rows out of tolerance whose names are kept, at most */

/* A part of the table. `items`: the catalogue's items that it covers, such as "C-40 C-41". */
struct model_check_part {
	const char *items;
	int (*rows)(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink);
	bool random; /* true: the rows depend on the seed */
};

struct model_check {
	/* The caller sets the fields up to `only`. */
	const struct model_sink *sink;
	struct model_judge *judge; /* measured values; NULL: there are none */
	/* measured rows that were used for calibration; NULL: there are none */
	struct model_judge *calibrated;
	const char *only; /* the only item to check; NULL: all items */
	/* The other fields are results. */
	unsigned rows, given, out_of_tolerance, shapes, shapes_failed, judged;
	struct model_tally tally; /* errors of the rows that have a measured value */
	struct {
		char quantity[MODEL_JUDGE_QUANTITY], x[MODEL_ROW_X];
		double error;
	} failed[MODEL_CHECK_FAILED];
};

/* Returns true if the list `items`, such as "C-40 C-41", contains `item`. */
bool model_item_listed(const char *items, const char *item);

/* Runs the parts, and forwards each row together with its published value. DXP_EINVAL: no part has
 * the item, or a line of the file of --judge names no row; error_text() has the reason. Other
 * statuses are those of a part that failed. */
int model_check_run(struct model_check *c, const struct model_check_part *parts, unsigned count,
		    const struct model_parameters *p, uint64_t seed);

/* Compares which way of an allreduce is fastest. *cases: cases in the file of --judge that have
 * measured times for the host's way and another way. *right: cases among them for which `guess`
 * (us) and the measured times agree on the fastest way. */
void model_check_winners(const struct model_judge *j,
			 double (*guess)(void *context, const struct model_allreduce *of),
			 void *context, unsigned *cases, unsigned *right);

#endif
