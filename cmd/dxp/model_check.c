/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model check`: the table of all figures of the sources. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "cmd/dxp/model.h"
#include "cmd/dxp/model_calibrate.h"
#include "cmd/dxp/model_check.h"
#include "model/check.h"

static const char *judge_path, *only, *calibrate_path;
static bool list;

static const struct option_row options[] = {
	{"judge", "FILE",
	 "fill in measured values from lines `QUANTITY X VALUE[UNIT]`, and print their errors",
	 OPTION_TEXT, &judge_path, 0, 0},
	{"only", "ITEM", "only rows of this item of the catalogue, such as C-42", OPTION_TEXT,
	 &only, 0, 0},
	{"calibrate", "FILE", "first calibrate allreduce with these lines", OPTION_TEXT,
	 &calibrate_path, 0, 0},
	{"list", NULL, "print quantity, x and unit of every row, as a judge's file needs them",
	 OPTION_FLAG, &list, 0, 0},
};

/* Prints quantity and x of a row in the format of a file for --judge. */
static void name_print(void *context, const struct model_row *row)
{
	printf("%s\t%s\t# %s %s\n", row->quantity, row->x[0] ? row->x : "-", row->item, row->unit);
}

static double guess_us(void *context, const struct model_allreduce *of)
{
	double ns;

	return model_allreduce_ns(of, context, &ns) == DXP_OK ? ns / 1000 : -1;
}

/* Emits the share of allreduce cases whose fastest way the model has right. */
static void winners_emit(const struct model_check *c, struct model_parameters *p,
			 const struct model_sink *sink)
{
	unsigned cases, right;

	if (only && strcmp(only, "N-11") != 0)
		return;
	model_check_winners(c->judge, guess_us, p, &cases, &right);
	if (cases == 0)
		return;
	struct model_row row =
		model_row_plain("", "judged: winners of allreduce", "%", 100.0 * right / cases);
	snprintf(row.x, sizeof(row.x), "%u of %u", right, cases);
	model_emit(sink, &row);
}

/* Prints the rows out of tolerance on standard error; emits rows of the judged errors, and prints
 * totals for readers of the table. */
static void verdict_print(const struct model_check *c, struct model_parameters *p,
			  const struct model_run *run)
{
	unsigned shown = c->out_of_tolerance;

	for (unsigned i = 0; i < shown && i < MODEL_CHECK_FAILED; i++)
		fprintf(stderr, "dxp: out of tolerance: %s at x '%s': %+.1f %%\n",
			c->failed[i].quantity, c->failed[i].x, c->failed[i].error);
	if (c->judge) {
		model_tally_emit(&c->tally, run->sink);
		winners_emit(c, p, run->sink);
	}
	if (run->json)
		return;
	printf("\n%u rows; given: %u of %u within tolerance; shapes: %u of %u hold\n", c->rows,
	       c->given - c->out_of_tolerance, c->given, c->shapes - c->shapes_failed, c->shapes);
	if (c->judge)
		printf("judged: %u rows, %u of them with an error, mean error %.1f %%\n", c->judged,
		       c->tally.rows, c->tally.rows ? c->tally.sum / c->tally.rows : 0);
}

/* Rejects a seed that no row of --only depends on. */
static int seed_check(const struct model_run *run)
{
	if (!only || !run->seeded)
		return DXP_OK;
	for (unsigned i = 0; i < model_check_part_count; i++)
		if (model_check_parts[i].random &&
		    model_item_listed(model_check_parts[i].items, only))
			return DXP_OK;
	return error_set(DXP_EINVAL,
			 "--seed has no effect here, because no row of %s uses random numbers; "
			 "drop it",
			 only);
}

/* Runs the table with the files of a judge and of calibration, which may be absent. */
static int check(const struct model_run *run, struct model_judge *judge,
		 struct model_judge *calibrated)
{
	const struct model_sink names = {name_print, NULL};
	struct model_parameters p = *run->parameters;
	struct model_check c = {
		.sink = list ? &names : run->sink,
		.judge = judge,
		.calibrated = calibrated,
		.only = only,
	};
	int status = seed_check(run);

	if (status == DXP_OK && calibrated)
		status = model_calibrate_rows(calibrate_path, calibrated, &p, run->sink);
	if (status != DXP_OK)
		return status;
	status = model_check_run(&c, model_check_parts, model_check_part_count, &p, run->seed);
	if (status != DXP_OK)
		return judge ? model_file_error(status, judge_path) : status;
	if (!list)
		verdict_print(&c, &p, run);
	return c.out_of_tolerance > 0 && !list;
}

#define LIST_REASON "--list prints names only"
static const struct model_exclusion exclusions[] = {
	{"list", "judge", LIST_REASON},
	{"list", "calibrate", LIST_REASON},
	{"list", "json", LIST_REASON},
	{"list", "tsv", LIST_REASON},
	{"list", "sweep", LIST_REASON},
	{"list", "set", LIST_REASON},
	{"list", "config", LIST_REASON},
	{"list", "seed", LIST_REASON},
	{0},
};

static int check_run(const struct model_run *run)
{
	struct model_judge judge = {0}, calibrated = {0};
	int status = DXP_OK;

	if (judge_path)
		status = model_judge_load(judge_path, &judge);
	if (status == DXP_OK && calibrate_path)
		status = model_judge_load(calibrate_path, &calibrated);
	if (status == DXP_OK)
		status =
			check(run, judge_path ? &judge : NULL, calibrate_path ? &calibrated : NULL);
	model_judge_destroy(&judge);
	model_judge_destroy(&calibrated);
	return status;
}

const struct model_part model_part_check = {
	.name = "check",
	.summary =
		"every figure of the sources beside the model; ends 1 if one is out of tolerance",
	.text = "A value that is kept aside prints as -; --judge fills it in. Kinds: given; "
		"calibrated-on, a parameter was set from it; aside; shape, a sentence as an "
		"inequality, which holds at 1.",
	.rows = options,
	.row_count = ARRAY_COUNT(options),
	.exclusions = exclusions,
	.random = true,
	.run = check_run,
};
