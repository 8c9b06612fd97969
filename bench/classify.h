/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the classifier for the benchmarks `classify` and `direct`. */
#ifndef BENCH_CLASSIFY_H
#define BENCH_CLASSIFY_H

#include <jansson.h>

/* Runs `command`, a classifier with --json. Returns the summary that it prints last; the caller
 * releases this value. Returns NULL if the classifier failed, after a message of `dxp bench
 * BENCH`. */
json_t *classify_summary(const char *bench, const char *command);

#endif
