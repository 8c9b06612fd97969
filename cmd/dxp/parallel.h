/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs independent, mostly waiting work in threads. */
#ifndef CMD_DXP_PARALLEL_H
#define CMD_DXP_PARALLEL_H

#include <stddef.h>

/* Calls work(context, i) for each i below `count`, in up to 32 threads, and returns when all calls
 * have returned. */
void parallel_run(size_t count, void (*work)(void *context, size_t index), void *context);

#endif
