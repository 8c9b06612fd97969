/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dxp/command.h"

#define ROWS_MAX      24
#define LEAVE(status) (-1 - (status))

bool option_number_parse(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || !isdigit((unsigned char)*text) || *end)
		return false;
	*out = value;
	return true;
}

bool option_bytes_parse(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || !isdigit((unsigned char)*text))
		return false;
	if (*end) {
		const char *suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return false;
		unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
	}
	*out = value;
	return true;
}

static void help_print(const struct usage *u)
{
	char left[64];

	printf("usage: dxp %s [OPTION]... %s\n\n%s\n\n", u->name, u->arguments, u->text);
	for (unsigned i = 0; i < u->row_count; i++) {
		const struct option_row *row = &u->rows[i];
		if (!row->help)
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", row->name, row->value ? " " : "",
			 row->value ? row->value : "");
		printf("  %-22s %s\n", left, row->help);
	}
	printf("  %-22s %s\n", "--help", "this text");
}

static int usage_error(const struct usage *u, const char *what, const char *which)
{
	fprintf(stderr, "dxp %s: error: %s%s; see `dxp %s --help`\n", u->name, what, which,
		u->name);
	return LEAVE(EXIT_USAGE);
}

static bool row_parse(const struct option_row *row, const char *text)
{
	struct option_list *list = row->to;
	uint64_t value;

	switch (row->kind) {
	case OPTION_FLAG: *(bool *)row->to = true; return true;
	case OPTION_TEXT: *(const char **)row->to = text; return true;
	case OPTION_LIST:
		if (list->count == ARRAY_COUNT(list->values))
			return false;
		list->values[list->count++] = text;
		return true;
	case OPTION_NUMBER:
	case OPTION_BYTES:
		if (!(row->kind == OPTION_BYTES ? option_bytes_parse
						: option_number_parse)(text, &value) ||
		    value < row->low || value > row->high)
			return false;
		*(uint64_t *)row->to = value;
		return true;
	}
	return false;
}

static int row_refuse(const struct usage *u, const struct option_row *row, const char *text)
{
	if (row->kind == OPTION_LIST) {
		fprintf(stderr, "dxp %s: error: --%s is given more than %zu times\n", u->name,
			row->name, ARRAY_COUNT(((struct option_list *)0)->values));
		return LEAVE(EXIT_USAGE);
	}
	fprintf(stderr, "dxp %s: error: --%s needs a number from %llu to %llu, not '%s'\n", u->name,
		row->name, (unsigned long long)row->low, (unsigned long long)row->high, text);
	return LEAVE(EXIT_USAGE);
}

static void long_options(const struct usage *u, struct option out[ROWS_MAX + 2])
{
	for (unsigned i = 0; i < u->row_count && i < ROWS_MAX; i++)
		out[i] = (struct option){.name = u->rows[i].name,
					 .has_arg =
						 u->rows[i].value ? required_argument : no_argument,
					 .val = (int)i};
	out[u->row_count] = (struct option){.name = "help", .val = ROWS_MAX};
	out[u->row_count + 1] = (struct option){0};
}

int options_parse(int argc, char **argv, const struct usage *usage)
{
	struct option options[ROWS_MAX + 2];
	int which;

	long_options(usage, options);
	optind = 0;
	opterr = 0;
	while ((which = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (which == ':')
			return usage_error(usage, "missing value of option ", argv[optind - 1]);
		if (which == '?')
			return usage_error(usage, "unknown option ", argv[optind - 1]);
		if (which == ROWS_MAX) {
			help_print(usage);
			return LEAVE(EXIT_DONE);
		}
		if (!row_parse(&usage->rows[which], optarg))
			return row_refuse(usage, &usage->rows[which], optarg);
	}
	if (argc - optind < usage->least)
		return usage_error(usage, "missing argument: ", usage->arguments);
	if (argc - optind > usage->most)
		return usage_error(usage, "too many arguments, starting with ",
				   argv[optind + usage->most]);
	return optind;
}
