/* SPDX-License-Identifier: BSD-3-Clause */
/* Of processes that try out the same device at the same time with an empty cache, one compiles what
 * the others then load. Without this, 16 nodes that start side by side compile the same program 16
 * times. */
#ifndef ENGINE_OCL_FIRST_H
#define ENGINE_OCL_FIRST_H

#include "engine/ocl_pack.h"

struct ocl_first {
	int file; /* -1: nothing is held */
};

/* Waits while another process tries out this device for the first time, up to a bound. `cache`: the
 * folder that they share; NULL: they share nothing. */
void ocl_first_begin(const char *cache, const uint8_t device[OCL_KEY_BYTES], struct ocl_first *out);
/* `good`: what was compiled is in the cache now. */
void ocl_first_end(struct ocl_first *f, const uint8_t device[OCL_KEY_BYTES], bool good);

#endif
