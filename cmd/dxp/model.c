/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model PART ...`: selects the part, parses the common options, and runs the part
 * for each point of the grid. */
#include "cmd/dxp/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/model_print.h"
#include "model/sweep.h"

#define ROWS_MOST      24
#define SHORTCUTS_MOST 6
#define CONFIG_MOST    (1 << 20) /* bytes: bound of a file of parameters */
#define SEED_DEFAULT   1
#define SEED_NONE      UINT64_MAX /* --seed is not given */

static const struct model_part *const parts[] = {
	&model_part_nic,      &model_part_crossbar, &model_part_share,      &model_part_loggp,
	&model_part_topology, &model_part_tags,     &model_part_allreduce,  &model_part_bridge,
	&model_part_loss,     &model_part_check,    &model_part_parameters,
};

static struct common {
	bool json, tsv;
	const char *preset, *config;
	struct option_list sets, sweeps;
	const char *shortcuts[SHORTCUTS_MOST];
	uint64_t seed;
} common;

static const struct common common_initial = {.preset = "source", .seed = SEED_NONE};

static const struct option_row common_rows[] = {
	{"json", NULL, "one JSON object a row", OPTION_FLAG, &common.json, 0, 0},
	{"tsv", NULL, "rows with tabs between the columns", OPTION_FLAG, &common.tsv, 0, 0},
	{"preset", "NAME", "source, gen3, gen4-512 or gen5-1024", OPTION_TEXT, &common.preset, 0,
	 0},
	{"config", "FILE", "a file of lines `name = value`, before --set", OPTION_TEXT,
	 &common.config, 0, 0},
	{"set", "NAME=VALUE", "set a parameter (may be repeated): --set clock=300MHz", OPTION_LIST,
	 &common.sets, 0, 0},
	{"sweep", "NAME=LIST", "run for a,b,c or a..b*2 or a..b+1; several make a grid",
	 OPTION_LIST, &common.sweeps, 0, 0},
	{"seed", "N", "seed of the random numbers (1)", OPTION_NUMBER, &common.seed, 0,
	 SEED_NONE - 1},
};

/* The options of the part that runs: its own, its shortcuts, and the common ones. */
static struct option_row part_rows[ROWS_MOST];
static unsigned part_row_count;

static int list(void)
{
	puts("usage: dxp model PART [OPTION]...\n\nPredicts the sources' hardware from its "
	     "mechanism, with an interval over what the sources leave open.\n");
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		printf("  %-11s %s\n", parts[i]->name, parts[i]->summary);
	puts("\n`dxp model PART --help` describes the options of one.");
	return EXIT_DONE;
}

int model_file_error(int status, const char *path)
{
	char reason[400];

	snprintf(reason, sizeof(reason), "%s", error_text());
	return error_set(status, "%s: %s", path, reason);
}

char *model_text_load(const char *path, size_t most)
{
	size_t bytes;
	char *text = file_load(path, most, &bytes);

	if (text && strlen(text) != bytes) {
		error_set(DXP_EINVAL, "%s: has a byte of 0, so it is no text; check the path",
			  path);
		free(text);
		text = NULL;
	}
	return text;
}

/* Parses the options of a part, and its argument. Returns what options_read returns. */
static bool parse(const struct model_part *part, int argc, char **argv, struct arguments *out)
{
	struct option_row *rows = part_rows;
	unsigned count = part->row_count;
	char name[40];

	common = common_initial;
	if (count)
		memcpy(rows, part->rows, count * sizeof(*rows));
	for (unsigned i = 0; part->shortcuts && part->shortcuts[i].option; i++)
		rows[count++] = (struct option_row){
			part->shortcuts[i].option,
			"LIST",
			part->shortcuts[i].help,
			OPTION_TEXT,
			&common.shortcuts[i],
			0,
			0,
		};
	memcpy(rows + count, common_rows, sizeof(common_rows));
	count += ARRAY_COUNT(common_rows);
	part_row_count = count;
	for (unsigned i = 0; i < count; i++)
		if (!part->random && strcmp(rows[i].name, "seed") == 0)
			rows[i].help = NULL;
	snprintf(name, sizeof(name), "model %s", part->name);
	struct usage usage = {
		.name = name,
		.arguments = part->argument ? part->argument : "",
		.text = part->text,
		.rows = rows,
		.row_count = count,
		.most = part->argument ? 1 : 0,
	};
	if (!options_read(argc, argv, &usage, out))
		return false;
	if (out->count > 0)
		*part->argument_to = out->at[0];
	return true;
}

/* Sets the parameters that all points share. */
static int configure(const struct model_part *part, struct model_parameters *p)
{
	int status = model_parameters_preset(p, common.preset);

	if (!status && common.config) {
		char *text = model_text_load(common.config, CONFIG_MOST);
		status = text ? model_parameters_config(p, text) : DXP_ENOENT;
		if (text && status)
			status = model_file_error(status, common.config);
		free(text);
	}
	for (unsigned i = 0; !status && i < common.sets.count; i++) {
		status = model_group_check(part, common.sets.values[i]);
		if (!status)
			status = model_parameters_set(p, common.sets.values[i]);
	}
	if (status)
		print_fail("%s", error_text());
	return status;
}

static int grid_of(const struct model_part *part, struct model_grid *g)
{
	char text[1024];
	int status = DXP_OK;

	g->count = 0;
	for (unsigned i = 0; !status && i < common.sweeps.count; i++) {
		status = model_group_check(part, common.sweeps.values[i]);
		if (!status)
			status = model_grid_add(g, common.sweeps.values[i]);
	}
	for (unsigned i = 0; !status && part->shortcuts && part->shortcuts[i].option; i++) {
		if (!common.shortcuts[i])
			continue;
		/* A share must have a decimal point or a unit, because "--load 2" could mean 2 or
		 * 0.002. */
		const char *name = part->shortcuts[i].parameter;
		const char *unit = strstr(name, "_permille");
		snprintf(text, sizeof(text), "%.*s=%s",
			 (int)(unit ? (size_t)(unit - name) : strlen(name)), name,
			 common.shortcuts[i]);
		status = model_grid_add(g, text);
	}
	for (unsigned i = 0; !status && i < common.sets.count; i++)
		status = model_grid_refuse(g, common.sets.values[i]);
	if (!status)
		status = model_options_check(part, part_rows, part_row_count, g);
	if (status)
		print_fail("%s", error_text());
	return status;
}

static int run_grid(const struct model_part *part, const struct model_parameters *base,
		    const struct model_grid *g)
{
	static const char no_memory[] =
		"not enough memory; choose smaller sizes, or fewer ranks, nodes or ports";
	enum model_format format = common.json ? MODEL_JSON : common.tsv ? MODEL_TSV : MODEL_TABLE;
	struct model_print print = {.format = format, .grid = g};
	struct model_sink sink = {model_print_row, &print};
	int result = EXIT_DONE;

	for (unsigned i = 0; i < model_grid_points(g); i++) {
		struct model_parameters p = *base;
		bool seeded = common.seed != SEED_NONE;
		struct model_run run = {.parameters = &p,
					.seed = seeded ? common.seed : SEED_DEFAULT,
					.seeded = seeded,
					.sink = &sink,
					.json = format != MODEL_TABLE,
					.tsv = format == MODEL_TSV};
		print.point = i;
		print.parameters = &p;
		int status = model_grid_apply(g, i, &p);
		if (!status)
			status = model_parameters_check(&p);
		if (!status)
			status = part->run(&run);
		if (status < 0) {
			print_fail("%s", status == DXP_ENOMEM ? no_memory : error_text());
			return status == DXP_EINVAL || status == DXP_ENOENT ? EXIT_USAGE
									    : EXIT_FAILED;
		}
		if (status > 0)
			result = EXIT_FAILED;
	}
	return model_print_end(&print) && result == EXIT_DONE ? EXIT_DONE : EXIT_FAILED;
}

static int run_part(const struct model_part *part, int argc, char **argv)
{
	static struct model_grid grid;
	struct model_parameters p;
	struct arguments args;

	if (!parse(part, argc, argv, &args))
		return args.status;
	if (model_texts_check(part_rows, part_row_count)) {
		print_fail("%s", error_text());
		return EXIT_USAGE;
	}
	if (configure(part, &p) || grid_of(part, &grid))
		return EXIT_USAGE;
	return run_grid(part, &p, &grid);
}

bool command_model_has(const char *part)
{
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		if (strcmp(parts[i]->name, part) == 0)
			return true;
	return false;
}

int command_model_each(void)
{
	int status = EXIT_DONE;

	for (size_t i = 0; status == EXIT_DONE && i < ARRAY_COUNT(parts); i++) {
		char name[32], *argv[] = {name, NULL};
		snprintf(name, sizeof(name), "%s", parts[i]->name);
		status = run_part(parts[i], 1, argv);
	}
	return status;
}

int command_model(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return list();
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		if (strcmp(parts[i]->name, argv[1]) == 0)
			return run_part(parts[i], argc - 1, argv + 1);
	print_fail("there is no part '%s'; `dxp model` lists them", argv[1]);
	return EXIT_USAGE;
}
