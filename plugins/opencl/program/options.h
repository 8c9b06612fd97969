/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses options of OpenCL's compiler and linker. Pure.
 *
 * Blanks separate words; double quotes group; a backslash escapes the next character, as in local
 * compilers. */
#ifndef OPENCL_OPTIONS_H
#define OPENCL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *at; /* points into the text; `bytes` long, with quotes */
	size_t bytes;
	char *word; /* without quotes; the caller frees it */
};

/* Returns the next word from *text on and advances *text past it. False: at the end, or no memory
 * (then *out->at is not zero). */
bool option_next(const char **text, struct option *out);

/* Options split into the folders of -I, in order, and the rest. Options without effect on any
 * supported device are removed. */
struct options_split {
	char **folders;
	size_t folder_count;
	char *rest;
};
/* Splits options. False: no memory. */
bool options_split(const char *text, struct options_split *out);
void options_split_clear(struct options_split *s);

/* Return whether a compiler (a linker) may accept these options. Vendor options (-cl-nv-verbose)
 * are accepted, because only the device can check them. */
bool options_valid(const char *text);
bool options_valid_link(const char *text);
/* Returns whether `word` is among the options. */
bool options_have(const char *text, const char *word);

#endif
