/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distance, to suggest a known name for an unknown one. */
#ifndef BASE_DISTANCE_H
#define BASE_DISTANCE_H

#include <stddef.h>

#define DISTANCE_BYTES_MAX 64 /* bytes compared: longer than any name of an option or parameter */

/* Returns the least number of inserted, deleted and replaced bytes between two names. Compares only
 * the first DISTANCE_BYTES_MAX bytes of each. */
size_t distance_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

#endif
