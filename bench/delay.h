/* SPDX-License-Identifier: BSD-3-Clause */
/* A lab with latency: two network namespaces, and a process that delays each packet. It needs no
 * kernel queueing discipline. */
#ifndef BENCH_DELAY_H
#define BENCH_DELAY_H

#include <stdint.h>

#include "bench/lab.h"

#define DELAY_LAB "delayed" /* name in rows */

/* Makes the lab, runs `body` in its own process, and removes the lab, even on SIGINT, SIGTERM or
 * SIGHUP. `one_way_ns` adds to the process's own delay. Without permission, prints a note and
 * returns 0. */
int delay_run(uint64_t one_way_ns, lab_body body, void *context);

#endif
