/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp job`: begins and ends jobs for a scheduler. */
#include "cmd/dxp/job.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"

#define WAIT_MAX_S 3600 /* s; a scheduler that waits longer has its own queue */

struct job_command {
	struct session_options o;
	struct job job;
	struct job_choice choice;
};

static int begin(struct job_command *c)
{
	json_t *names = NULL;

	if (!job_begin(&c->job, &c->choice))
		return EXIT_FAILED;
	if (c->o.json)
		names = json_array();
	for (size_t i = 0; i < c->choice.count; i++) {
		if (names)
			json_array_append_new(names, json_string(c->choice.names[i]));
		else
			printf("%s%s", i ? "," : "", c->choice.names[i]);
	}
	if (names)
		return print_json_text(json_pack("{s:s, s:s, s:o}", "name", c->job.name, "folder",
						 c->job.folder, "xpus", names));
	putchar('\n');
	return EXIT_DONE;
}

static int end(struct job_command *c)
{
	if (!job_end(&c->job))
		return EXIT_FAILED;
	if (c->o.json)
		return print_json_text(json_pack("{s:s, s:I}", "name", c->job.name, "removed",
						 (json_int_t)c->job.removed));
	printf("%s: %u keys and grants were removed\n", c->job.name, c->job.removed);
	return EXIT_DONE;
}

/* Checks a name, which for `dxp job end` may be a beginning and '*'. */
static bool name_good(const char *name, bool ends)
{
	char copy[FABRIC_NAME_BYTES + 1];
	size_t length = strnlen(name, sizeof(copy) - 1);

	snprintf(copy, sizeof(copy), "%s", name);
	if (ends && length > 1 && copy[length - 1] == '*')
		copy[length - 1] = '\0';
	return manage_name_valid(copy);
}

static bool words_good(const struct job_command *c, bool begins, bool ends)
{
	if (begins == ends)
		print_fail("write `dxp job begin NAME --xpus N --folder FOLDER` or `dxp job end "
			   "NAME`");
	else if (!name_good(c->job.name, ends))
		print_fail("'%s' is not a name; use 1 to %d of A-Z a-z 0-9 . _ -, and '*' only at "
			   "the end of a name for `dxp job end`",
			   c->job.name, FABRIC_NAME_BYTES - 1);
	else if (begins && (c->job.wish.count == 0 || !c->job.folder))
		print_fail("`dxp job begin` needs --xpus and --folder");
	else
		return true;
	return false;
}

int command_job(int argc, char **argv)
{
	static struct job_command c = {.job = {.user = UINT64_MAX, .wait_s = 10}};
	const struct option_row rows[] = {
		DIRECTORY_ROWS(c.o.fabric.directory),
		COMMON_ROW("manager", "ADDRESS", "the manager (default: from the folder)",
			   c.o.fabric.manager),
		{"xpus", "N", "begin: number of xPUs", OPTION_NUMBER, &c.job.wish.count, 1,
		 JOB_XPUS_MAX},
		{"engine", "NAME", "begin: only xPUs with this engine, as `dxp nodes` shows it",
		 OPTION_TEXT, &c.job.wish.engine},
		{"mem", "BYTES",
		 "begin: only xPUs with at least this much memory (suffix K, M or G)", OPTION_BYTES,
		 &c.job.wish.memory, 1, UINT64_MAX},
		{"folder", "FOLDER",
		 "folder that gets the job's keys, DXP_DIR of its programs; end removes it",
		 OPTION_TEXT, &c.job.folder},
		{"user", "UID", "begin: user id of the job's programs, which gets the keys",
		 OPTION_NUMBER, &c.job.user, 0, UINT32_MAX - 1},
		{"wait", "S", "begin: seconds to wait while other hosts have the xPUs (default 10)",
		 OPTION_NUMBER, &c.job.wait_s, 0, WAIT_MAX_S},
		{"replace", NULL, "begin: first end a job of this name", OPTION_FLAG,
		 &c.job.replaces},
		JSON_ROW(c.o.json)};
	const struct usage usage = {
		"job", "begin NAME | end NAME",
		"For schedulers. begin makes a key with the role host for the job NAME, grants it "
		"N xPUs that no other grant\n"
		"names, writes what its programs need to FOLDER, and prints the names of the xPUs. "
		"end removes the key, so that\n"
		"programs of the job lose the xPUs at once, and the grants. `end 'NAME*'` ends all "
		"jobs whose names begin so.\n"
		"Both need a fabric with tokens (`dxp manager init`) and the role operator.",
		ACCEPTS(rows, 2, 2)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const bool begins = strcmp(args.at[0], "begin") == 0;
	const bool ends = strcmp(args.at[0], "end") == 0;
	c.job.name = args.at[1];
	c.job.fabric = c.o.fabric;
	if (!words_good(&c, begins, ends))
		return EXIT_USAGE;
	if (control_find(&c.o.fabric, &c.job.operator_keys) != DXP_OK)
		return print_fail("%s", c.job.operator_keys.text);
	int status = begins ? begin(&c) : end(&c);
	control_close(&c.job.operator_keys);
	keys_erase(&c.job.operator_keys, sizeof(c.job.operator_keys));
	return status;
}
