/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between rv32_edit.c and rv32_edit_kernel.c. */
#ifndef ENGINE_RV32_EDIT_INTERNAL_H
#define ENGINE_RV32_EDIT_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/rv32_edit.h"

/* A part of the text. */
struct edit_span {
	const char *at;
	size_t bytes;
};

struct edit {
	FILE *out;
	/* Metadata nodes by number: of a DISubprogram the text after "!N = ", else after "!N = !{";
	 * 0 bytes: none. */
	struct edit_span *metadata;
	size_t metadata_count;
	size_t metadata_next;    /* unused */
	unsigned attribute_next; /* unused */
	char *text;              /* reason of the first failure */
};

/* Writes record and entry function for the kernel of a `define` line. False: e->text has the
 * reason. */
bool rv32_edit_kernel(struct edit *e, struct edit_span line);

/* NULL: not found. */
static inline const char *rv32_edit_find(struct edit_span s, const char *part)
{
	return memmem(s.at, s.bytes, part, strlen(part));
}

#endif
