/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses options for the compiler and the linker of OpenCL. It makes no I/O.
 *
 * Blanks separate words. Double quotes protect blanks, and a backslash protects the next character.
 * Compilers on the local machine use the same rules. */
#ifndef OPENCL_OPTIONS_H
#define OPENCL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *at; /* position of the word in the text; it is `bytes` long, with its quotes */
	size_t bytes;
	char *word; /* the word without quotes; the caller frees it */
};

/* Returns the next word from *text on, and advances *text to the position after it. Returns false
 * at the end of the text, or if memory is short; in the latter case *out->at is not a zero byte. */
bool option_next(const char **text, struct option *out);

/* Options, split into the folders of -I, in order, and the rest. Options that have no effect on any
 * device are removed. */
struct options_split {
	char **folders;
	size_t folder_count;
	char *rest;
};
/* Splits options. Returns false if memory is short. */
bool options_split(const char *text, struct options_split *out);
void options_split_clear(struct options_split *s);

/* Return true if a compiler (or a linker) may accept these options. Options of a vendor (such as
 * -cl-nv-verbose) are accepted, because only the device can check them. */
bool options_valid(const char *text);
bool options_valid_link(const char *text);
/* Returns true if `word` is one of the options. */
bool options_have(const char *text, const char *word);

#endif
