/* SPDX-License-Identifier: BSD-3-Clause */
/* A lab with latency: two network namespaces, and a process that passes each packet on after a
 * time. It needs no queueing discipline of the kernel. */
#ifndef BENCH_DELAY_H
#define BENCH_DELAY_H

#include <stdint.h>

#include "bench/lab.h"

#define DELAY_LAB "delayed" /* name in rows */

/* Makes the lab, runs `body` in its own process, and removes the lab, even on SIGINT, SIGTERM or
 * SIGHUP. Each packet takes `one_way_ns` longer than the process needs. Skips a machine that does
 * not permit the lab, with a note, and returns 0. */
int delay_run(uint64_t one_way_ns, lab_body body, void *context);

#endif
