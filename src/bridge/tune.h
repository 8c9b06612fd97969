/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses a device's buffer size by measured rates: the smallest size whose rate is nearly as high
 * as the best rate. Short buffers fill a pipeline sooner and stay in caches (S-08, S-09). Pure
 * functions. */
#ifndef BRIDGE_TUNE_H
#define BRIDGE_TUNE_H

#include <stddef.h>
#include <stdint.h>

/* Measured rates in bytes/s of writing to and reading from the device, each alone, in pieces of
 * this size. 0: not measured. */
struct bridge_rate {
	uint32_t buffer_bytes;
	uint64_t in_bytes_per_s, out_bytes_per_s;
};

/* Writes the sizes to measure, 16 KiB, 32 KiB .. 16 MiB; returns their number. */
size_t bridge_sizes(uint32_t *out, size_t count);

/* Returns the index of the chosen row; `count`: no row was measured. A row is good enough if its
 * rate is `good_percent` of the best rate, 1 .. 100; 0: 97. */
size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent);

#endif
