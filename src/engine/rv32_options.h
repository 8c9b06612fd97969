/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads build options of a program, which come from a host: accepts those of OpenCL only. Pure. */
#ifndef ENGINE_RV32_OPTIONS_H
#define ENGINE_RV32_OPTIONS_H

#include <stdbool.h>

#include "engine/engine.h"

/* words of the options; a program with more definitions should use a header */
#define RV32_OPTIONS_MAX 512

struct rv32_options {
	char *words[RV32_OPTIONS_MAX]; /* in `text` */
	unsigned count;
	char *text;
	bool library; /* LINK: -create-library */
};

/* Splits options into words; double quotes hold blanks, a backslash holds the next letter. `link`:
 * those of clLinkProgram. Folders of -I must be relative, inside the program. DXP_EINVAL: with a
 * line for the build log in `text`; DXP_ENOMEM. Call rv32_options_release() in all cases. */
int rv32_options_read(const char *options, bool link, struct rv32_options *out,
		      char text[ENGINE_TEXT_BYTES]);
void rv32_options_release(struct rv32_options *o);

#endif
