/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the options of programs and commands as data. One row for each option defines its flag,
 * its key in the configuration file, its environment variable, its bounds and its help.
 *
 * Precedence: flag, environment variable, file, default. Section and variable of an option:
 *   dxp ping --count    [dxp ping] count    DXP_PING_COUNT
 *   dxpd --memory       [dxpd] memory       DXPD_MEMORY
 * A common option of the commands of dxp is also a key of [dxp], with the variable DXP_MANAGER. */
#ifndef CMD_OPTIONS_OPTIONS_H
#define CMD_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

enum option_kind {
	OPTION_FLAG,   /* bool; in file and environment: yes or no */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t, low .. high */
	OPTION_BYTES,  /* uint64_t, low .. high; suffixes K, M, G are powers of 1024 */
	OPTION_LIST,   /* struct option_list: may be repeated; in the environment: "A,B" */
	OPTION_PARSED, /* the function `parse` sets the value */
};

struct option_list {
	const char *values[64];
	unsigned count;
};

struct option_row {
	const char *name;  /* name of the option, without the two dashes */
	const char *value; /* name of the value in the help; NULL: a flag */
	/* help text; NULL: an old name of another option, which the help does not show */
	const char *help;
	enum option_kind kind;
	void *to;
	uint64_t low, high;
	/* For OPTION_PARSED: parses the value and writes it to *to. It is called once for each
	 * source that has the option. Returns NULL, or the rest of an error sentence that begins
	 * with the option's name. */
	const char *(*parse)(const char *text, void *to);
	const char *initial; /* text of the default of a PARSED option; NULL: none */
	char letter;         /* short option; 0: none */
	bool common;         /* the option is also a key of section [dxp] */
	/* Names of other options of kind TEXT. If such an option has a value from a weaker source
	 * than this option, that value is dropped. */
	const char *replaces[2];
};

struct usage {
	const char *name;      /* name of the command of dxp, or of the program */
	const char *arguments; /* such as "XPU ADDRESS FILE|-" */
	const char *text;      /* description, in sentences */
	const struct option_row *rows;
	unsigned row_count;
	int least, most; /* bounds of the number of arguments that are not options */
	/* Version of a program, which also has the options --config and --version. NULL: this is a
	 * command of dxp. */
	const char *version;
	const char *notes; /* printed after the options; NULL: none */
};

/* Values of the members `rows` to `most` of a struct usage. */
#define ACCEPTS(rows, least, most) (rows), ARRAY_COUNT(rows), (least), (most)

/* Sets all options from files, environment and command line. Moves the other arguments to the last
 * positions and returns the index of the first one in argv. If negative, the program exits with
 * status -1 - value. */
int options_parse(int argc, char **argv, const struct usage *usage);

/* The arguments that are not options. */
struct arguments {
	int count;
	char **at;  /* part of argv, which ends with NULL */
	int status; /* exit status, if options_read returns false */
};

/* Calls options_parse for a command. Returns true if the command runs, and sets `count` and `at`.
 * Otherwise the program exits with out->status. */
bool options_read(int argc, char **argv, const struct usage *usage, struct arguments *out);

enum option_source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

/* The value of an option, and where it came from. */
struct option_origin {
	enum option_source source;
	const char *text; /* text of the value in its source; NULL: default */
	const char *file; /* name of the file, if the source is a file */
	unsigned line;
	char variable[64]; /* name of the variable, if the source is the environment */
	/* the value is from section [dxp], or from a variable such as DXP_MANAGER */
	bool common;
};

/* From the call of options_show on, options_parse calls `show` with the value of each option
 * instead of parsing a command line, and returns what it returns for --help. */
typedef void (*options_show_fn)(void *context, const struct usage *usage,
				const struct option_row *row, const struct option_origin *origin);
void options_show(options_show_fn show, void *context);

/* Writes the section of a command or program, such as "dxp ping". Returns `out`. */
const char *options_section(const struct usage *usage, char out[64]);

/* Writes the name of an option's environment variable, such as "DXPD_MEMORY". */
void options_variable(const char *section, const char *option, char out[64]);

/* Prints the help text, which begins with "usage: " (help.c). */
void options_help(const struct usage *usage);

/* Parse a number. option_bytes_parse() also accepts "0x1000", "64K" and "2G". Return false if the
 * text is invalid. */
bool option_bytes_parse(const char *text, uint64_t *out);
bool option_number_parse(const char *text, uint64_t *out);
/* Writes the shortest exact form, such as "64K". Returns `out`. */
const char *option_bytes_format(uint64_t bytes, char out[24]);

#endif
