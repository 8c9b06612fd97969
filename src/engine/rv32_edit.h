/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits the compiler's text (LLVM IR) between the two stages of a compilation.
 *
 * Removes the calling conventions of OpenCL, which the code generator for RISC-V rejects before
 * LLVM 18. Removes the target of the first stage and of libclc. Gives __local variables external
 * linkage. For each kernel K, adds an entry function `dxp_enter_K`, which loads the arguments from
 * a table of pointers to values. Also adds a record about K in section .dxp.kernels (rv32/image.h).
 *
 * The functions do no I/O. The compiler writes the text, but inline assembly and strings in it come
 * from a program. */
#ifndef ENGINE_RV32_EDIT_H
#define ENGINE_RV32_EDIT_H

#include <stddef.h>

#include "engine/engine.h"

/* Returns the edited text, which the caller frees. On failure returns NULL; `text` then has the
 * reason, or is empty if memory is short. */
char *rv32_edit(const char *ir, size_t bytes, size_t *out_bytes, char text[ENGINE_TEXT_BYTES]);

#endif
