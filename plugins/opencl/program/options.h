/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses options for the compiler and the linker of OpenCL, without I/O.
 *
 *  Blanks separate words. Double quotes protect blanks, and a backslash protects the next
 *  character, as in compilers on the local machine. */
#ifndef OPENCL_OPTIONS_H
#define OPENCL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *at; /* position of the word in the text; it is `bytes` long, with its quotes */
	size_t bytes;
	char *word; /* the word without quotes; the caller frees it */
};

/* Returns the next word from *text on, and moves *text after it. False: the text ends, or memory is
 * short; in the latter case *out->at is not a zero byte. */
bool option_next(const char **text, struct option *out);

/* The folders of -I, in order, and the other options, without those that have no effect on any
 * device. */
struct options_split {
	char **folders;
	size_t folder_count;
	char *rest;
};
/* False: memory is short. */
bool options_split(const char *text, struct options_split *out);
void options_split_clear(struct options_split *s);

/* A compiler (or a linker) may accept these options. Options of a vendor (such as -cl-nv-verbose)
 * count as valid, because only the device can check them. */
bool options_valid(const char *text);
bool options_valid_link(const char *text);
/* `word` is one of the options. */
bool options_have(const char *text, const char *word);

#endif
