/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the values, and returns the lower one of their medians; 0: there are no values. */
uint64_t median_lower(uint64_t *values, size_t count);

#endif
