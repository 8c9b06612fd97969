/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of measured values for --judge and --calibrate. Lines are `quantity x value`; # starts a
 * comment. A quantity may contain blanks; "-" means that x is "". Sizes may end in B, K, KiB, M or
 * MiB, and a value in a unit. */
#ifndef MODEL_JUDGE_H
#define MODEL_JUDGE_H

#include <stddef.h>

#include "model/allreduce.h"
#include "model/row.h"

#define MODEL_JUDGE_LINES    4096 /* four times the rows of the table */
#define MODEL_JUDGE_QUANTITY 64   /* bytes of the longest name, with the final zero */

struct model_judged {
	char quantity[MODEL_JUDGE_QUANTITY];
	char x[MODEL_ROW_X];
	double value;
	char unit[8]; /* "": the unit of the row */
	unsigned line;
	bool used;          /* a row has this name */
	const char *wanted; /* unit of that row if `unit` does not convert to it; NULL: it does */
};

struct model_judge {
	struct model_judged *lines;
	unsigned count;
};

/* Reads the text of a file of measured values. DXP_ENOMEM; DXP_EINVAL with error_text(): the line
 * and the reason. */
int model_judge_read(const char *text, size_t text_bytes, struct model_judge *out);
void model_judge_destroy(struct model_judge *j);

/* Returns a row's value in the row's unit, and marks its line as used; NAN: none. */
double model_judge_find(struct model_judge *j, const struct model_row *row);

/* Returns DXP_EINVAL with error_text() if a line has a unit that its row cannot have, or, unless
 * `some_rows`, names no row. */
int model_judge_unused(const struct model_judge *j, bool some_rows);

/* Parses a line like "allreduce host 9x32x64 12.5": a case and microseconds. DXP_EINVAL with
 * error_text(). */
int model_judged_case(const struct model_judged *line, struct model_allreduce *of, double *us);

#endif
