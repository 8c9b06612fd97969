/* SPDX-License-Identifier: BSD-3-Clause */
/* fail() prints the sentence on standard error and exits with status 1. */
#ifndef LEARN_FAIL_H
#define LEARN_FAIL_H

#include <stddef.h>

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Zeroed; fails if out of memory. */
void *allocate(size_t count, size_t element_bytes);

#endif
