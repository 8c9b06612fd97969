/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of instructions, in the syntax of GNU as and LLVM. */
#ifndef RV32_DISASM_H
#define RV32_DISASM_H

#include <stddef.h>
#include <stdint.h>

#define RV32_DISASM_BYTES 64 /* longest text, with the final zero */

/* Writes the text without a final newline; targets are addresses. If an assembler would make
 * another word of it, writes ".word". Returns the length. */
int rv32_disasm(uint32_t word, uint32_t pc, char *text, size_t bytes);

#endif
