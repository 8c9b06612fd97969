/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation table: rows of all parts beside the sources' figures and, with a judge's file,
 * beside withheld figures. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <stdbool.h>

#include "model/judge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "model/tally.h"

#define MODEL_CHECK_FAILED 32 /* number of rows out of tolerance whose names are kept */

/* A part of the table. `items`: its items, such as "C-40 C-41". */
struct model_check_part {
	const char *items;
	int (*rows)(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink);
	bool random; /* rows depend on the seed */
};

struct model_check {
	/* Set by the caller. */
	const struct model_sink *sink;
	struct model_judge *judge;      /* NULL: none */
	struct model_judge *calibrated; /* rows that calibration used; NULL: none */
	const char *only;               /* an item; NULL: all items */
	/* Results. */
	unsigned rows, given, out_of_tolerance, shapes, shapes_failed, judged;
	struct model_tally tally; /* of judged rows */
	struct {
		char quantity[MODEL_JUDGE_QUANTITY], x[MODEL_ROW_X];
		double error;
	} failed[MODEL_CHECK_FAILED];
};

/* Returns whether a part's items, such as "C-40 C-41", have this item. */
bool model_item_listed(const char *items, const char *item);

/* Runs the parts and forwards each row with its published value. DXP_EINVAL with error_text(): no
 * part has the item, or a judge's line names no row. Otherwise the status of a part that failed. */
int model_check_run(struct model_check *c, const struct model_check_part *parts, unsigned count,
		    const struct model_parameters *p, uint64_t seed);

/* Counts the cases of allreduce with judged times of the host and of another way, and those in
 * which the fastest of these ways is the same in the model. `guess` predicts microseconds. */
void model_check_winners(const struct model_judge *j,
			 double (*guess)(void *context, const struct model_allreduce *of),
			 void *context, unsigned *cases, unsigned *right);

#endif
