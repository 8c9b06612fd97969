/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp model`. A part defines one struct model_part and its own options. The
 * common code parses --json, --tsv, --set, --config, --preset, --sweep and --seed, and prints the
 * rows. */
#ifndef CMD_DXP_MODEL_H
#define CMD_DXP_MODEL_H

#include "cmd/options/options.h"
#include "model/parameter.h"
#include "model/row.h"
#include "model/sweep.h"

/* Input of one run: one point of the grid. */
struct model_run {
	const struct model_parameters *parameters; /* validated */
	uint64_t seed;
	bool seeded; /* --seed was given */
	const struct model_sink *sink;
	bool json; /* print rows only, without text for readers */
	bool tsv;  /* with `json` only: prints the rows as values separated by tabs */
};

/* An option that is short for --sweep PARAMETER=VALUES. */
struct model_shortcut {
	const char *option, *parameter, *help;
};

/* Two options that cannot be used together. `reason` completes the error message. */
struct model_exclusion {
	const char *one, *other;
	const char *reason;
};

struct model_part {
	const char *name, *summary;
	const char *text;              /* text of --help, in sentences */
	const struct option_row *rows; /* own options; their values go to static variables */
	unsigned row_count;            /* number of rows, at most 8 */
	const struct model_shortcut *shortcuts;   /* at most 6; ends with a NULL option */
	const struct model_exclusion *exclusions; /* ends with a NULL option; NULL: none */
	bool random;                              /* rows depend on --seed */
	/* groups and names of parameters that have an effect; NULL: all parameters have one */
	const char *groups;
	const char *argument;     /* name of an optional argument, NULL for none */
	const char **argument_to; /* set if the argument is given */
	/* Emits the rows of one point. Returns DXP_OK, or a status with error_text() set. A
	 * positive value means success with exit status EXIT_FAILED (check: a given row is out of
	 * tolerance). */
	int (*run)(const struct model_run *run);
};

extern const struct model_part model_part_nic, model_part_crossbar, model_part_share,
	model_part_parameters;
extern const struct model_part model_part_loggp, model_part_topology, model_part_tags,
	model_part_allreduce, model_part_bridge, model_part_loss, model_part_check;

/* Forwards rows to run->sink. Adds their published values if the parameters are the source's. */
struct model_attach {
	struct model_sink sink; /* sink for the part */
	const struct model_sink *to;
};
const struct model_sink *model_attach(struct model_attach *a, const struct model_run *run);

/* Rejects a text option with the value "": DXP_EINVAL with error_text(). */
int model_texts_check(const struct option_row *rows, unsigned row_count);

/* Checks that the given options do not exclude each other, in this part or in all parts. Also
 * rejects --seed for a part without random numbers. An option of `rows` counts as given if `grid`
 * sweeps its parameter, or if its number is within the bounds. Returns DXP_EINVAL with
 * error_text(). */
int model_options_check(const struct model_part *part, const struct option_row *rows,
			unsigned row_count, const struct model_grid *grid);

/* Checks that a parameter of --set or --sweep, NAME or NAME=VALUE, has an effect in the part.
 * DXP_EINVAL with error_text(). Unknown names pass. */
int model_group_check(const struct model_part *part, const char *assignment);

/* Returns the text of a file of at most `most` bytes; the caller frees it. NULL, with error_text():
 * the file cannot be read, or is not a text. */
char *model_text_load(const char *path, size_t most);

/* Prefixes error_text() with the file's name. Returns `status`. */
int model_file_error(int status, const char *path);

#endif
