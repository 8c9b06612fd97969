/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the buffer size for a device from measured rates: the smallest that is nearly as fast as
 * the fastest. Short buffers fill a pipeline sooner and stay in caches (S-08, S-09). Pure
 * functions. */
#ifndef BRIDGE_TUNE_H
#define BRIDGE_TUNE_H

#include <stddef.h>
#include <stdint.h>

/* One measurement: transfers in pieces of this size, writes and reads of the device each alone. */
struct bridge_rate {
	uint32_t buffer_bytes;
	uint64_t in_bytes_per_s, out_bytes_per_s;
};

/* Fills in the sizes to measure: 16 KiB, 32 KiB .. 16 MiB. Returns how many. */
size_t bridge_sizes(uint32_t *out, size_t count);

/* Returns the chosen row; `count`: there is none. A row is good with `good_percent` of the best
 * rate, 1 .. 100; 0: 97. Rows with a rate of 0 were not measured. */
size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent);

#endif
