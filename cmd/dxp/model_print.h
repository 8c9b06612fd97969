/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints rows of the model as a table, as TSV or as JSON. */
#ifndef CMD_DXP_MODEL_PRINT_H
#define CMD_DXP_MODEL_PRINT_H

#include <stdbool.h>

#include "model/row.h"
#include "model/sweep.h"

enum model_format { MODEL_TABLE, MODEL_TSV, MODEL_JSON };

struct model_print {
	enum model_format format;
	const struct model_grid *grid;
	const struct model_parameters *parameters; /* parameters of this point of the grid */
	unsigned point;
	/* state of the printer */
	unsigned rows, shown_point;
	bool failed; /* out of memory for a row */
};

/* Prints one row; the context is a struct model_print. */
void model_print_row(void *context, const struct model_row *row);

/* Completes the output. Returns false after an error message if memory ran out. */
bool model_print_end(struct model_print *p);

/* Returns the name of a kind, such as "given"; "" for a plain row. */
const char *model_kind_name(enum model_kind kind);

#endif
