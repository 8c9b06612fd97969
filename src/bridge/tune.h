/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses a device's buffer size: the smallest with nearly the best measured rate, because short
 * buffers fill a pipeline sooner and stay in caches (S-08, S-09). Pure functions. */
#ifndef BRIDGE_TUNE_H
#define BRIDGE_TUNE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes/s of writing to and reading from the device, each alone; 0: not measured. */
struct bridge_rate {
	uint32_t buffer_bytes;
	uint64_t in_bytes_per_s, out_bytes_per_s;
};

/* 16 KiB, 32 KiB .. 16 MiB; returns their number. */
size_t bridge_sizes(uint32_t *out, size_t count);

/* Good enough is `good_percent` of the best rate, 1 .. 100; 0: 97. Returns `count`: no row was
 * measured. */
size_t bridge_choose(const struct bridge_rate *rows, size_t count, uint32_t good_percent);

#endif
