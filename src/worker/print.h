/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures standard output of a process: OpenCL devices on a CPU print there before clFinish
 * returns. A thread empties the pipe continuously, so that printing never blocks.
 *
 * There is one capture per process. Between two orders it keeps up to WIRE_PRINT_BYTES of text. */
#ifndef WORKER_PRINT_H
#define WORKER_PRINT_H

#include <stddef.h>

struct worker_print;

/* Redirects standard output to the capture, permanently. DXP_EIO, DXP_ENOMEM. */
int worker_print_open(struct worker_print **out);

/* Returns the text that was written before this call and not returned yet, in order. Returns NULL
 * if there is none. If text was dropped, a line with the number of dropped bytes follows. The text
 * is valid until the next call. */
const char *worker_print_dequeue(struct worker_print *p, size_t *bytes);

#endif
