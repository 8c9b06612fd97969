/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distance, to suggest a known name. */
#ifndef BASE_DISTANCE_H
#define BASE_DISTANCE_H

#include <stddef.h>

#define DISTANCE_BYTES_MAX 64 /* longer than any option or parameter */

/* Returns how many bytes are inserted, deleted or replaced between the first DISTANCE_BYTES_MAX of
 * each. */
size_t distance_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

#endif
