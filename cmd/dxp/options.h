/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines as data: one row per option gives parsing, bounds and help. */
#ifndef CMD_DXP_OPTIONS_H
#define CMD_DXP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t, low .. high */
	OPTION_BYTES,  /* uint64_t, low .. high; suffixes K, M, G are powers of 1024 */
};

struct option_row {
	const char *name;  /* without the two dashes */
	const char *value; /* what the help calls the value; NULL: a flag */
	const char *help;
	enum option_kind kind;
	void *to;
	uint64_t low, high;
};

struct usage {
	const char *name;      /* of the command */
	const char *arguments; /* "XPU ADDRESS FILE|-" */
	const char *text;      /* what it does, in sentences */
	const struct option_row *rows;
	unsigned row_count;
	int least, most; /* arguments that are no options */
};

/* Parses everything. Returns the index in argv of the first argument that is no option (they are
 * moved behind the options), or a negative value: leave with exit status -1 - value. */
int options_parse(int argc, char **argv, const struct usage *usage);

/* "4096", "0x1000", "64K", "2G". False: not that. */
bool bytes_parse(const char *text, uint64_t *out);
bool number_parse(const char *text, uint64_t *out);

#endif
