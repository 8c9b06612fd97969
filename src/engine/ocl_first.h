/* SPDX-License-Identifier: BSD-3-Clause */
/* With an empty cache, lets one of several processes that test the same device compile, while the
 * others wait and load the result. Otherwise 16 nodes that start together compile the same program
 * 16 times. */
#ifndef ENGINE_OCL_FIRST_H
#define ENGINE_OCL_FIRST_H

#include "engine/ocl_pack.h"

struct ocl_first {
	int file; /* -1: no lock held */
};

/* Waits, up to a bound, for another process's first test of this device. `cache`: shared directory;
 * NULL: none. */
void ocl_first_begin(const char *cache, const uint8_t device[OCL_KEY_BYTES], struct ocl_first *out);
/* Releases the lock; `good`: the result is in the cache. */
void ocl_first_end(struct ocl_first *f, const uint8_t device[OCL_KEY_BYTES], bool good);

#endif
