/* SPDX-License-Identifier: BSD-3-Clause */
/* printf of kernels: executes the ecall of the runtime's printf(). Formats and arguments are read
 * from the work-item's registers and stack, where clang passes them. The text goes to standard
 * output, which the worker captures. Several cores may call it at the same time. */
#ifndef ENGINE_RV32_PRINT_H
#define ENGINE_RV32_PRINT_H

#include <stdatomic.h>

#include "rv32/core.h"

#define RV32_ECALL_PRINT      1 /* value of t0 in this ecall */
#define RV32_PRINT_TEXT_BYTES 96

struct rv32_print {
	atomic_flag failed; /* set by the first work-item that fails, which then writes `wrong` */
	atomic_bool printed;
	char wrong[RV32_PRINT_TEXT_BYTES]; /* why an ecall failed; "": none failed */
};

void rv32_print_open(struct rv32_print *p);
/* Flushes the output. */
void rv32_print_close(struct rv32_print *p);

/* An rv32_ecall_fn. Its `context` is a struct rv32_print. */
int rv32_print_ecall(void *context, struct rv32_item *item);

#endif
