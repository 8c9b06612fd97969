/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of OpenCL's compiler and linker as text. Pure.
 *
 * Words are parted by blanks; double quotes hold a word together, and a backslash takes the next
 * character as it is, as local compilers have it. */
#ifndef DOOR_OPTIONS_H
#define DOOR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *at; /* in the text, `bytes` long, quotes and all */
	size_t bytes;
	char *word; /* without quotes; for the caller to free */
};

/* The next word from *text on, which it moves behind; false at the end, and for want of memory,
 * when out->word is NULL. */
bool option_next(const char **text, struct option *out);

/* The folders that -I names, in order, and the rest of the options as it was, without those that
 * mean nothing to any device of ours. */
struct options_split {
	char **folders;
	size_t folder_count;
	char *rest;
};
/* False: no memory. */
bool options_split(const char *text, struct options_split *out);
void options_split_clear(struct options_split *s);

/* Can a compiler (a linker) take these at all? Those of makers (-cl-nv-verbose) pass: only the
 * device knows them. */
bool options_valid(const char *text);
bool options_valid_link(const char *text);
/* Is this word among them? */
bool options_have(const char *text, const char *word);

#endif
