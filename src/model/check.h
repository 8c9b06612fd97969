/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation table: rows of all parts beside the sources' figures (row.h), and beside measured
 * values (--judge) where figures are withheld. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <stdbool.h>

#include "model/judge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "model/tally.h"

#define MODEL_CHECK_FAILED 32 /* names kept of rows out of tolerance */

/* `items`: of the catalogue, such as "C-40 C-41". */
struct model_check_part {
	const char *items;
	int (*rows)(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink);
	bool random; /* depends on the seed */
};

struct model_check {
	/* The caller sets the fields up to `only`. */
	const struct model_sink *sink;
	struct model_judge *judge; /* NULL: none */
	/* rows used for calibration; NULL: none */
	struct model_judge *calibrated;
	const char *only; /* the only item; NULL: all */
	/* Results. */
	unsigned rows, given, out_of_tolerance, shapes, shapes_failed, judged;
	struct model_tally tally; /* of rows with a measured value */
	struct {
		char quantity[MODEL_JUDGE_QUANTITY], x[MODEL_ROW_X];
		double error;
	} failed[MODEL_CHECK_FAILED];
};

/* `items` is a list such as "C-40 C-41". */
bool model_item_listed(const char *items, const char *item);

/* Forwards each row with its published value. DXP_EINVAL: no part has the item, or a line of
 * --judge names no row; error_text() has the reason. Also the status of a failed part. */
int model_check_run(struct model_check *c, const struct model_check_part *parts, unsigned count,
		    const struct model_parameters *p, uint64_t seed);

/* Compares which way of an allreduce is fastest. *cases: of --judge, with times for the host's way
 * and another; *right: those for which `guess` (us) agrees. */
void model_check_winners(const struct model_judge *j,
			 double (*guess)(void *context, const struct model_allreduce *of),
			 void *context, unsigned *cases, unsigned *right);

#endif
