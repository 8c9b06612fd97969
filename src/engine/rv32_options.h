/* SPDX-License-Identifier: BSD-3-Clause */
/* Build options of a program, from a host. Accepts only options of OpenCL. No I/O. */
#ifndef ENGINE_RV32_OPTIONS_H
#define ENGINE_RV32_OPTIONS_H

#include <stdbool.h>

#include "engine/engine.h"

/* words: a program with more definitions should use a header */
#define RV32_OPTIONS_MAX 512

struct rv32_options {
	char *words[RV32_OPTIONS_MAX]; /* point into `text` */
	unsigned count;
	char *text;
	bool library; /* LINK: with -create-library */
};

/* Splits options into words, which may contain blanks between double quotes and any character after
 * a backslash. `link`: options of clLinkProgram(), not of a compilation. Folders after -I must be
 * relative and inside the program. DXP_EINVAL: `text` is for the build log; DXP_ENOMEM. Always call
 * rv32_options_release() afterwards. */
int rv32_options_read(const char *options, bool link, struct rv32_options *out,
		      char text[ENGINE_TEXT_BYTES]);
void rv32_options_release(struct rv32_options *o);

#endif
