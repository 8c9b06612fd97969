/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of measured values, for --judge and --calibrate. Each line is `quantity x value`; # starts
 * a comment. A quantity may contain blanks. "-" means that x is "". A size may end in B, K, KiB, M
 * or MiB. A value may end in a unit. */
#ifndef MODEL_JUDGE_H
#define MODEL_JUDGE_H

#include <stddef.h>

#include "model/allreduce.h"
#include "model/row.h"

/* lines of a file: four times as many as the rows of the table */
#define MODEL_JUDGE_LINES 4096
/* bytes of the longest quantity, including the zero byte that ends the text */
#define MODEL_JUDGE_QUANTITY 64

struct model_judged {
	char quantity[MODEL_JUDGE_QUANTITY];
	char x[MODEL_ROW_X];
	double value;
	char unit[8]; /* "": the unit of the row with this name */
	unsigned line;
	bool used; /* true: a row of the table has this name */
	/* unit of that row if `unit` cannot be converted to it; else NULL */
	const char *wanted;
};

struct model_judge {
	struct model_judged *lines;
	unsigned count;
};

/* Reads a file of measured values. DXP_ENOMEM; DXP_EINVAL: error_text() has the line and the
 * reason. */
int model_judge_read(const char *text, size_t text_bytes, struct model_judge *out);
void model_judge_destroy(struct model_judge *j);

/* Returns the measured value for a row, in the row's unit, and marks the line as used. NAN: the
 * file has no such line. */
double model_judge_find(struct model_judge *j, const struct model_row *row);

/* Returns DXP_EINVAL if a line has a unit that its row cannot have, or if a line names no row,
 * unless `some_rows` permits that. error_text() has the reason. */
int model_judge_unused(const struct model_judge *j, bool some_rows);

/* Parses a line like "allreduce host 9x32x64 12.5": a case, and its time in microseconds.
 * DXP_EINVAL; error_text() has the reason. */
int model_judged_case(const struct model_judged *line, struct model_allreduce *of, double *us);

#endif
