/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of instructions, in the syntax of GNU as and LLVM. */
#ifndef RV32_DISASM_H
#define RV32_DISASM_H

#include <stddef.h>
#include <stdint.h>

#define RV32_DISASM_BYTES 64 /* bytes of the longest text, with the final zero */

/* Writes the text of the instruction `word` at address pc, without a final newline. Targets of
 * branches and jumps are written as addresses. If an assembler would make another word of the text,
 * writes the word as ".word". Returns the length. */
int rv32_disasm(uint32_t word, uint32_t pc, char *text, size_t bytes);

#endif
