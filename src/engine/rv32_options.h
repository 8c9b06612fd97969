/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the build options of a program, which come from a host. Accepts only options of OpenCL. The
 * functions do no I/O. */
#ifndef ENGINE_RV32_OPTIONS_H
#define ENGINE_RV32_OPTIONS_H

#include <stdbool.h>

#include "engine/engine.h"

/* words in the options at most: a program with more definitions should use a header */
#define RV32_OPTIONS_MAX 512

struct rv32_options {
	char *words[RV32_OPTIONS_MAX]; /* words of the options; they point into `text` */
	unsigned count;
	char *text;
	bool library; /* LINK: the options have -create-library */
};

/* Splits options into words. Blanks between double quotes belong to the word, and so does the
 * character after a backslash. `link`: accept the options of clLinkProgram() instead of those for a
 * compilation. Folders after -I must be relative and inside the program. DXP_EINVAL: `text` has a
 * line for the build log; DXP_ENOMEM. Always call rv32_options_release() afterwards. */
int rv32_options_read(const char *options, bool link, struct rv32_options *out,
		      char text[ENGINE_TEXT_BYTES]);
void rv32_options_release(struct rv32_options *o);

#endif
