/* SPDX-License-Identifier: BSD-3-Clause */
/* printf of kernels: the ecall of the runtime's printf(). Reads format and arguments from the
 * work-item's registers and stack, where clang passes them. Prints to standard output, which the
 * worker captures. Several cores may call it at once. */
#ifndef ENGINE_RV32_PRINT_H
#define ENGINE_RV32_PRINT_H

#include <stdatomic.h>

#include "rv32/core.h"

#define RV32_ECALL_PRINT      1 /* value of t0 */
#define RV32_PRINT_TEXT_BYTES 96

struct rv32_print {
	atomic_flag failed; /* set by the first failing work-item, which writes `wrong` */
	atomic_bool printed;
	char wrong[RV32_PRINT_TEXT_BYTES]; /* why an ecall failed; "": none */
};

void rv32_print_open(struct rv32_print *p);
void rv32_print_close(struct rv32_print *p);

/* An rv32_ecall_fn; `context`: struct rv32_print. */
int rv32_print_ecall(void *context, struct rv32_item *item);

#endif
