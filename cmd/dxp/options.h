/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes command lines as data: one row for each option defines parsing, bounds and help. */
#ifndef CMD_DXP_OPTIONS_H
#define CMD_DXP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t, low .. high */
	OPTION_BYTES,  /* uint64_t, low .. high; suffixes K, M, G are powers of 1024 */
	OPTION_LIST,   /* struct option_list: the option may be repeated */
};

struct option_list {
	const char *values[16];
	unsigned count;
};

struct option_row {
	const char *name;  /* name of the option, without the two dashes */
	const char *value; /* name of the value in the help; NULL: a flag */
	const char *help;  /* NULL: an old name of another option, not shown */
	enum option_kind kind;
	void *to;
	uint64_t low, high;
};

struct usage {
	const char *name;      /* name of the command */
	const char *arguments; /* such as "XPU ADDRESS FILE|-" */
	const char *text;      /* description, in sentences */
	const struct option_row *rows;
	unsigned row_count;
	int least, most; /* bounds of the number of arguments that are not options */
};

/* Parses all options. Moves the other arguments to the last positions and returns the index of the
 * first one in argv. If negative, the program exits with status -1 - value. */
int options_parse(int argc, char **argv, const struct usage *usage);

/* Parse "4096", "0x1000", "64K", "2G" (option_bytes_parse) or plain numbers (option_number_parse).
 * Return false if invalid. */
bool option_bytes_parse(const char *text, uint64_t *out);
bool option_number_parse(const char *text, uint64_t *out);

#endif
