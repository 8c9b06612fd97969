/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the code of an ELF object or executable for riscv32 as text. Each instruction has a line:
 * address, word, text, relocation. Each label has its own line. The functions do no I/O. */
#ifndef RV32_LIST_H
#define RV32_LIST_H

#include "rv32/image.h"

#define RV32_LIST_LINE_BYTES 256

/* Receives one line, without a newline. */
typedef void (*rv32_list_fn)(void *context, const char *line);

/* Lists all sections with code. Addresses in an object are offsets in the section, because the
 * loader chooses the final address. Addresses in an executable are absolute. Names are shown in
 * printable ASCII only.
 * Errors: DXP_EMALFORMED: the file is damaged, not for riscv32, or without code; DXP_ENOMEM. `text`
 * then has a sentence for the user. Lines may have been listed before an error. */
int rv32_list(const struct rv32_object *object, rv32_list_fn line, void *context,
	      char text[RV32_IMAGE_TEXT_BYTES]);

#endif
