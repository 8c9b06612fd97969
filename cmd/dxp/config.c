/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp config show`: the value of each option of all programs, and where it came from;
 * and `dxp config list`: what may be set. */
#include <stdio.h>
#include <string.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"
#include "cmd/dxpd_options.h"
#include "cmd/manager_options.h"
#include "cmd/options/settings.h"
#include "cmd/switch_options.h"
#include "cmd/web_options.h"

#define VALUE_BYTES  256
#define ORIGIN_BYTES 320

struct shown {
	const char *section; /* shows only this section; NULL: all */
	bool all;            /* also shows options that have their default value */
	bool quiet;          /* only checks the files, and prints no values */
	bool list;           /* lists the options that can be set, instead of their values */
	json_t *json;        /* array that collects the values; NULL: prints them */
	char last[64];       /* name of the section shown last */
};

static void value_format(const struct option_row *row, const struct option_origin *o,
			 char out[VALUE_BYTES])
{
	const uint64_t number =
		row->kind == OPTION_NUMBER || row->kind == OPTION_BYTES ? *(uint64_t *)row->to : 0;
	char bytes[24];

	if (o->text)
		snprintf(out, VALUE_BYTES, "%s", o->text);
	else if (row->kind == OPTION_FLAG)
		snprintf(out, VALUE_BYTES, "%s", *(bool *)row->to ? "yes" : "no");
	else if (row->kind == OPTION_TEXT && *(const char **)row->to)
		snprintf(out, VALUE_BYTES, "%s", *(const char **)row->to);
	else if (row->kind == OPTION_PARSED && row->initial)
		snprintf(out, VALUE_BYTES, "%s", row->initial);
	else if (row->kind == OPTION_BYTES && number >= row->low && number <= row->high)
		snprintf(out, VALUE_BYTES, "%s", option_bytes_format(number, bytes));
	else if (row->kind == OPTION_NUMBER && number >= row->low && number <= row->high)
		snprintf(out, VALUE_BYTES, "%llu", (unsigned long long)number);
	else
		out[0] = '\0';
}

static void origin_format(const struct option_origin *o, char out[ORIGIN_BYTES])
{
	switch (o->source) {
	case SOURCE_FILE: snprintf(out, ORIGIN_BYTES, "%.256s:%u", o->file, o->line); break;
	case SOURCE_ENVIRONMENT: snprintf(out, ORIGIN_BYTES, "%s", o->variable); break;
	default: snprintf(out, ORIGIN_BYTES, "default"); break;
	}
}

static void section_begin(struct shown *s, const char *section)
{
	if (!s->json && strcmp(s->last, section) != 0)
		printf("%s[%s]\n", s->last[0] ? "\n" : "", section);
	snprintf(s->last, sizeof(s->last), "%s", section);
}

/* Prints a key as a line of a file, then its help. Keys of [dxp] are listed there only. */
static void key_list(struct shown *s, const char *section, const struct option_row *row)
{
	const char *value = row->kind == OPTION_FLAG ? "yes|no" : row->value;
	char variable[64];

	if (!row->help || (row->common && strcmp(section, "dxp") != 0))
		return;
	options_variable(section, row->name, variable);
	section_begin(s, section);
	if (s->json) {
		json_array_append_new(
			s->json, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "section", section,
					   "key", row->name, "value", value, "variable", variable,
					   "help", row->help, "list", row->kind == OPTION_LIST));
		return;
	}
	printf("%s = %s ; %s\n    %s\n", row->name, value, variable, row->help);
}

static void value_show(void *context, const struct usage *usage, const struct option_row *row,
		       const struct option_origin *origin)
{
	struct shown *s = context;
	char section[64], value[VALUE_BYTES], from[ORIGIN_BYTES];

	options_section(usage, section);
	if (s->quiet)
		return;
	if (s->section && strcmp(section, s->section) != 0)
		return;
	if (s->list) {
		key_list(s, section, row);
		return;
	}
	/* Section [dxp] shows the values that all commands share, so other sections leave them
	 * out. */
	if (!s->all && (origin->source == SOURCE_DEFAULT || origin->common))
		return;
	value_format(row, origin, value);
	origin_format(origin, from);
	section_begin(s, section);
	if (s->json) {
		json_array_append_new(s->json,
				      json_pack("{s:s, s:s, s:s, s:s}", "section", section, "key",
						row->name, "value", value, "from", from));
		return;
	}
	printf("%-16s = %-24s ; %s\n", row->name, value, from);
}

/* Walks the tables of all programs and commands. Returns an exit status. */
static int tables_show(struct shown *s)
{
	const struct usage *const programs[] = {&dxpd_usage, &manager_usage, &switch_usage,
						&web_usage};
	struct session_options o = {0};
	const struct option_row common[] = {SESSION_ROWS(o)};
	const struct usage dxp = {
		.name = "dxp", .rows = common, .row_count = ARRAY_COUNT(common), .version = ""};
	char *none[] = {NULL};
	int status;

	options_show(value_show, s);
	s->all = true;
	status = options_parse(0, none, &dxp);
	for (size_t i = 0; status == -1 - EXIT_DONE && i < ARRAY_COUNT(programs); i++)
		status = options_parse(0, none, programs[i]);
	s->all = s->section != NULL;
	return status == -1 - EXIT_DONE ? command_each() : -1 - status;
}

/* Checks that each section "dxp COMMAND" names a command that reads options from files. */
static int sections_check(const struct settings *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct setting *s = &files->all[i];
		if (strncmp(s->section, "dxp ", 4) == 0 && !command_has_options(s->section + 4)) {
			print_fail("%s:%u: no command `%s` reads options from a file; see `dxp "
				   "help`",
				   s->file, s->line, s->section);
			return EXIT_USAGE;
		}
	}
	return EXIT_DONE;
}

static int show(struct shown *s)
{
	const struct settings *files = settings_load(NULL);

	if (files->error[0]) {
		print_fail("%s", files->error);
		return EXIT_USAGE;
	}
	int status = sections_check(files);
	s->quiet = true;
	status = status == EXIT_DONE ? tables_show(s) : status;
	s->quiet = false;
	if (status != EXIT_DONE)
		return status;
	for (unsigned i = 0; !s->json && !s->list && i < files->file_count; i++)
		printf("; read: %s\n", files->files[i]);
	status = tables_show(s);
	if (status == EXIT_DONE && s->section && !s->last[0]) {
		print_fail("no program or command reads a section [%s]; `dxp config show` lists "
			   "those of the programs, such as `dxpd` or `dxp ping`",
			   s->section);
		return EXIT_USAGE;
	}
	return status;
}

int command_config(int argc, char **argv)
{
	bool json = false;
	const struct option_row rows[] = {JSON_ROW(json)};
	const struct usage usage = {
		"config", "show|list [SECTION]",
		"Shows the options of dxp, dxpd, dxp-manager, dxp-switch and dxp-web. show: each "
		"value, and the file and line or the\n"
		"variable that it came from; of the commands of dxp, only options that are set. "
		"list: what may be set, with its\n"
		"variable and its meaning. SECTION, such as `dxp ping`: all of one section. Exit "
		"status 2 if a file has an error,\n"
		"which is printed with its line.",
		ACCEPTS(rows, 1, 4)};
	char section[64] = "";
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const bool list = strcmp(args.at[0], "list") == 0;
	if (!list && strcmp(args.at[0], "show") != 0) {
		print_fail("unknown command `dxp config %s`; see `dxp config --help`", args.at[0]);
		return EXIT_USAGE;
	}
	struct shown s = {.json = json ? json_array() : NULL, .list = list};
	for (int i = 1; i < args.count; i++) {
		const size_t used = strlen(section);
		snprintf(section + used, sizeof(section) - used, "%s%s", used ? " " : "",
			 args.at[i]);
		s.section = section;
	}
	int status = show(&s);
	options_show(NULL, NULL);
	if (s.json && status == EXIT_DONE)
		return print_json_text(s.json);
	json_decref(s.json);
	return status;
}
