/* SPDX-License-Identifier: BSD-3-Clause */
/* Which size of buffer suits a device: out of what was measured for several sizes, the smallest
 * that is nearly as fast as the fastest, since short buffers fill a pipeline sooner and stay in
 * caches (S-08, S-09). Pure. */
#ifndef BRIDGE_TUNE_H
#define BRIDGE_TUNE_H

#include <stddef.h>
#include <stdint.h>

/* One row of the table: transfers in pieces of this size, device writes and reads each alone. */
struct bridge_rate {
	uint32_t buffer_bytes;
	uint64_t in_bytes_per_s, out_bytes_per_s;
};

/* Sizes worth measuring: 16 KiB, 32 KiB .. 16 MiB. */
size_t bridge_sizes(uint32_t *out, size_t count);

/* The row to take; `good_percent` of the best rate is good enough, 1 .. 100; 0: 97. Rows with a
 * rate of 0 were not measured. Returns `count` when there is none. */
size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent);

#endif
