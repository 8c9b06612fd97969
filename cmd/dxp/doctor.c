/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp doctor`: one line for each check: ok, warn or fail, what was found, and the next
 * step. */
#include <stdio.h>
#include <string.h>

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
	return json_pack("{s:s, s:s, s:s, s:s}", "check", c->name, "level", levels[c->level],
			 "found", c->found, "next", c->next);
}

int command_doctor(int argc, char **argv)
{
	struct session_options o = {0};
	const struct option_row rows[] = {MANAGER_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {"doctor",
				    "",
				    "Checks this machine and the fabric. Each line has the result "
				    "(ok, warn or fail), what was found, and the next step.\n"
				    "Exit status 1 if a check fails.",
				    rows,
				    ARRAY_COUNT(rows),
				    0,
				    0};
	struct check checks[CHECKS_MAX];
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	unsigned count = checks_machine(checks);
	count += checks_opencl(checks + count);
	count += checks_engines(checks + count);
	count += checks_fabric(checks + count, &o);
	json_t *all = o.json ? json_array() : NULL;
	int status = EXIT_DONE;
	for (unsigned i = 0; i < count; i++) {
		if (o.json)
			json_array_append_new(all, describe(&checks[i]));
		else
			show(&checks[i]);
		status = checks[i].level == CHECK_FAIL ? EXIT_FAILED : status;
	}
	if (o.json && print_json_text(all) != EXIT_DONE)
		return EXIT_FAILED;
	return status;
}
