/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between rv32_edit.c and rv32_edit_kernel.c. */
#ifndef ENGINE_RV32_EDIT_INTERNAL_H
#define ENGINE_RV32_EDIT_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/rv32_edit.h"

/* A part of the compiler's text. */
struct edit_span {
	const char *at;
	size_t bytes;
};

struct edit {
	FILE *out;
	/* Text of each metadata node, by number: for a DISubprogram the text after "!N = ",
	 * otherwise the text after "!N = !{"; bytes is 0 if there is no such node. */
	struct edit_span *metadata;
	size_t metadata_count;
	size_t metadata_next;    /* a number that no metadata node has */
	unsigned attribute_next; /* a number that no attribute group has */
	char *text;              /* where the reason of the first failure is written */
};

/* Writes a record and an entry function for the kernel of a `define` line. Returns false on
 * failure; e->text then has the reason. */
bool rv32_edit_kernel(struct edit *e, struct edit_span line);

/* Returns the position of `part` in a span, or NULL. */
static inline const char *rv32_edit_find(struct edit_span s, const char *part)
{
	return memmem(s.at, s.bytes, part, strlen(part));
}

#endif
