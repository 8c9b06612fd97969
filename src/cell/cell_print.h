/* SPDX-License-Identifier: BSD-3-Clause */
/* Catches what a process writes to its standard output: OpenCL devices on a CPU print there, before
 * clFinish returns. A thread reads the pipe all the time, so that whoever prints never waits.
 *
 * One process has one; text from one order to the next is kept up to XPU_PRINT_BYTES. */
#ifndef CELL_PRINT_H
#define CELL_PRINT_H

#include <stddef.h>

struct cell_print;

/* Standard output leads here from now on, for good. DXP_EIO, DXP_ENOMEM. */
int cell_print_open(struct cell_print **out);

/* All that was written before this call and not taken yet, in order; when more was written than is
 * kept, a line that says how much follows. NULL: nothing. Valid until the next call. */
const char *cell_print_take(struct cell_print *p, size_t *bytes);

#endif
