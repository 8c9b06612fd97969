/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the code of an ELF file for riscv32: a line per instruction (address, word, text,
 * relocation) and label. No I/O. */
#ifndef RV32_LIST_H
#define RV32_LIST_H

#include "rv32/image.h"

#define RV32_LIST_LINE_BYTES 256

/* Receives a line without a newline. */
typedef void (*rv32_list_fn)(void *context, const char *line);

/* Lists all sections with code; addresses of objects are offsets in the section. Errors, with a
 * sentence in `text`, perhaps after some lines: DXP_EMALFORMED: damaged, not for riscv32, or no
 * code; DXP_ENOMEM. */
int rv32_list(const struct rv32_object *object, rv32_list_fn line, void *context,
	      char text[RV32_IMAGE_TEXT_BYTES]);

#endif
