/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses a device's buffer size by measured rates: the smallest size whose rate is nearly that of
 * the fastest. Short buffers fill a pipeline sooner and stay in caches (S-08, S-09). Pure
 * functions. */
#ifndef BRIDGE_TUNE_H
#define BRIDGE_TUNE_H

#include <stddef.h>
#include <stdint.h>

/* Rates of writing and of reading the device, measured alone, in pieces of this size. */
struct bridge_rate {
	uint32_t buffer_bytes;
	uint64_t in_bytes_per_s, out_bytes_per_s;
};

/* Writes the sizes to measure, 16 KiB, 32 KiB .. 16 MiB, and returns how many. */
size_t bridge_sizes(uint32_t *out, size_t count);

/* Returns the index of the chosen row; `count`: there is none. A row is good enough at
 * `good_percent` of the best rate, 1 .. 100; 0: 97. A rate of 0 was not measured. */
size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent);

#endif
