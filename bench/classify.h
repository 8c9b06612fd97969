/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the classifier for the benchmarks `classify` and `direct`. */
#ifndef BENCH_CLASSIFY_H
#define BENCH_CLASSIFY_H

#include <jansson.h>

/* Runs `command`, a classifier with --json. Returns its final summary, owned by the caller; NULL,
 * after a message of `dxp bench BENCH`, on failure. */
json_t *classify_summary(const char *bench, const char *command);

#endif
