/* SPDX-License-Identifier: BSD-3-Clause */
/* The classifier as the benchmarks `classify` and `direct` run it. */
#ifndef BENCH_CLASSIFY_H
#define BENCH_CLASSIFY_H

#include <jansson.h>

/* Runs `command`, a classifier with --json. Returns the summary that it prints last; the caller
 * drops it. NULL: the classifier failed, and a message of `dxp bench BENCH` was printed. */
json_t *classify_summary(const char *bench, const char *command);

#endif
