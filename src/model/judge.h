/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured values for --judge and --calibrate: lines `quantity x value`; # starts a comment. A
 * quantity may contain blanks; "-" is an empty x; sizes may end in B, K, KiB, M or MiB, values in a
 * unit. */
#ifndef MODEL_JUDGE_H
#define MODEL_JUDGE_H

#include <stddef.h>

#include "model/allreduce.h"
#include "model/row.h"

/* four times the rows of the table */
#define MODEL_JUDGE_LINES 4096
/* with the final zero */
#define MODEL_JUDGE_QUANTITY 64

struct model_judged {
	char quantity[MODEL_JUDGE_QUANTITY];
	char x[MODEL_ROW_X];
	double value;
	char unit[8]; /* "": the row's unit */
	unsigned line;
	bool used; /* a row has this name */
	/* unit of the row, if `unit` does not convert to it; else NULL */
	const char *wanted;
};

struct model_judge {
	struct model_judged *lines;
	unsigned count;
};

/* Reads a file. DXP_ENOMEM; DXP_EINVAL: error_text() has the line and the reason. */
int model_judge_read(const char *text, size_t text_bytes, struct model_judge *out);
void model_judge_destroy(struct model_judge *j);

/* Returns the value in the row's unit, and marks the line as used. NAN: no such line. */
double model_judge_find(struct model_judge *j, const struct model_row *row);

/* Returns DXP_EINVAL, with error_text(), if a line's unit does not fit its row, or it names no row,
 * unless `some_rows`. */
int model_judge_unused(const struct model_judge *j, bool some_rows);

/* Parses a line like "allreduce host 9x32x64 12.5", in microseconds. DXP_EINVAL; error_text() has
 * the reason. */
int model_judged_case(const struct model_judged *line, struct model_allreduce *of, double *us);

#endif
