/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures standard output of a process: OpenCL devices on a CPU print there before clFinish
 * returns. A thread empties the pipe, so that printing never blocks.
 *
 *  One capture per process. It keeps up to WIRE_PRINT_BYTES between two orders. */
#ifndef WORKER_PRINT_H
#define WORKER_PRINT_H

#include <stddef.h>

struct worker_print;

/* Redirects standard output permanently. DXP_EIO, DXP_ENOMEM. */
int worker_print_open(struct worker_print **out);

/* Returns the text written before this call and not returned yet; NULL: none. A line with the
 * number of dropped bytes follows, if any. Valid until the next call. */
const char *worker_print_dequeue(struct worker_print *p, size_t *bytes);

#endif
