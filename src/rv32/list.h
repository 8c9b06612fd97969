/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the code of an ELF object or executable for riscv32 as text, a line for each instruction:
 * address, word, text, relocation. Labels are on lines of their own. Pure. */
#ifndef RV32_LIST_H
#define RV32_LIST_H

#include "rv32/image.h"

#define RV32_LIST_LINE_BYTES 256

/* Receives one line, without a newline. */
typedef void (*rv32_list_fn)(void *context, const char *line);

/* Lists all sections with code. Addresses of an object are offsets in the section, since the loader
 * chooses the address; those of an executable are absolute. Names have printable ASCII only.
 * Errors: DXP_EMALFORMED: damaged, not for riscv32, or without code; DXP_ENOMEM. `text` has the
 *         sentence. Lines may have been listed before an error. */
int rv32_list(const struct rv32_object *object, rv32_list_fn line, void *context,
	      char text[RV32_IMAGE_TEXT_BYTES]);

#endif
