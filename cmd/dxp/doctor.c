/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp doctor`: prints one line for each check, with ok, warn or fail, the finding, and
 * the next step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/checks.h"
#include "cmd/dxp/command.h"

static const char *const levels[] = {
	[CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail"};

static void show(const struct check *c)
{
	printf("%-4s  %-16s %s%s%s\n", levels[c->level], c->name, c->found, *c->next ? "; " : "",
	       c->next);
}

static json_t *describe(const struct check *c)
{
	json_t *check = json_pack("{s:s, s:s, s:s, s:s}", "check", c->name, "level",
				  levels[c->level], "found", c->found, "next", c->next);

	if (check && *c->node)
		json_object_set_new(check, "node", json_string(c->node));
	return check;
}

/* Prints the checks, with a heading before the checks of each node. If `all` is not NULL, adds the
 * checks to this array instead. Returns whether no check failed. */
static bool put(const struct check_list *list, json_t *all)
{
	const char *node = "";
	bool good = true;

	for (size_t i = 0; i < list->count; i++) {
		const struct check *c = &list->checks[i];
		good &= c->level != CHECK_FAIL;
		if (all) {
			json_array_append_new(all, describe(c));
			continue;
		}
		if (strcmp(c->node, node) != 0)
			printf("\nxPU %s\n", c->node);
		node = c->node;
		show(c);
	}
	return good;
}

struct doctor {
	struct session_options options;
	const char *to;
	bool all;
};

/* Runs the checks that the options select. Sets *good if no check failed. */
static int examine(const struct doctor *d, json_t *all, bool *good)
{
	struct check checks[CHECKS_MAX] = {0};
	struct check_list here = {.checks = checks}, paths = {0};
	const bool far = d->to || d->all;
	int status = DXP_OK;

	here.count = checks_machine(checks);
	if (!far) {
		here.count += checks_opencl(checks + here.count);
		here.count += checks_engines(checks + here.count);
	}
	here.count += checks_fabric(checks + here.count, &d->options);
	*good = put(&here, all);
	if (far)
		status = checks_paths(&d->options, d->to, &paths);
	*good &= put(&paths, all);
	free(paths.checks);
	return status;
}

int command_doctor(int argc, char **argv)
{
	struct doctor d = {0};
	const struct option_row rows[] = {
		SESSION_ROWS(d.options),
		{"to", "NODE", "check the way to this xPU, too", OPTION_TEXT, &d.to, 0, 0},
		{"all", NULL, "check the way to each xPU, too; a dead xPU is a failure",
		 OPTION_FLAG, &d.all, 0, 0},
		JSON_ROW(d.options.json)};
	const struct usage usage = {"doctor", "",
				    "Checks this machine and the fabric. Each line has the result "
				    "(ok, warn or fail), what was found, and the next step.\n"
				    "With --to or --all: also the way to xPUs, instead of OpenCL "
				    "and engines: node table, permission, data port,\n"
				    "version, round trip, path MTU, loss (PUTs of 10 MiB at most) "
				    "and interface.\n"
				    "Exit status 1 if a check fails.",
				    ACCEPTS(rows, 0, 0)};
	bool good;
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (d.to && d.all) {
		print_fail("--to and --all exclude each other");
		return EXIT_USAGE;
	}
	json_t *all = d.options.json ? json_array() : NULL;
	int status = examine(&d, all, &good);
	if (all && print_json_text(all) != EXIT_DONE)
		return EXIT_FAILED;
	if (status != DXP_OK)
		return print_fail("out of memory");
	return good ? EXIT_DONE : EXIT_FAILED;
}
