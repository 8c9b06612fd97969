/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the help text of a command from its rows. */
#include <stdio.h>
#include <string.h>

#include "cmd/options/options.h"

#define COLUMNS_MAX 120
#define INDENT      25

/* Prints text after the column INDENT, in lines of at most COLUMNS_MAX. */
static void wrapped_print(const char *text)
{
	while (strlen(text) > COLUMNS_MAX - INDENT) {
		size_t length = COLUMNS_MAX - INDENT;
		while (length > 1 && text[length] != ' ')
			length--;
		printf("%.*s\n%*s", (int)length, text, INDENT, "");
		text += length + (text[length] == ' ');
	}
	puts(text);
}

static void row_print(const struct option_row *row)
{
	char left[64], letter[8] = "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, row->value ? " " : "",
		 row->value ? row->value : "");
	printf("  %-22s ", left);
	if (strlen(left) > INDENT - 3)
		printf("\n%*s", INDENT, "");
	wrapped_print(row->help);
}

void options_help(const struct usage *u)
{
	static const struct option_row config = {"config", "FILE",
						 "read only this configuration file (default: "
						 "DXP_CONFIG, else /etc/dxp/dxp.conf, then "
						 "$XDG_CONFIG_HOME/dxp/dxp.conf)"},
				       version = {"version", NULL, "version"},
				       help = {.name = "help", .help = "this text", .letter = 'h'};

	printf("usage: %s%s [OPTION]...%s%s\n\n%s\n\n", u->version ? "" : "dxp ", u->name,
	       *u->arguments ? " " : "", u->arguments, u->text);
	for (unsigned i = 0; i < u->row_count; i++)
		if (u->rows[i].help)
			row_print(&u->rows[i]);
	if (u->version) {
		row_print(&config);
		row_print(&version);
	}
	row_print(&help);
	if (u->notes)
		printf("\n%s\n", u->notes);
}
