/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits the compiler's text (LLVM IR) between the two stages of a compilation.
 *
 *  Removes OpenCL calling conventions, which RISC-V code generators reject before LLVM 18, and the
 *  target of the first stage and of libclc. Gives __local variables external linkage. For each
 *  kernel K, adds an entry function `dxp_enter_K`, which loads the arguments from a table of
 *  pointers to values, and a record in section .dxp.kernels (rv32/image.h).
 *
 *  No I/O. The compiler writes the text, but inline assembly and strings in it come from a
 *  program. */
#ifndef ENGINE_RV32_EDIT_H
#define ENGINE_RV32_EDIT_H

#include <stddef.h>

#include "engine/engine.h"

/* The caller frees the text. NULL: `text` has the reason, or is empty if memory is short. */
char *rv32_edit(const char *ir, size_t bytes, size_t *out_bytes, char text[ENGINE_TEXT_BYTES]);

#endif
