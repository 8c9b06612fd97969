/* SPDX-License-Identifier: BSD-3-Clause */
/* Built programs on disk, by key: what any process of this node built before is not built again.
 * Files come whole or not at all (rename); the ones used longest ago go when there are too many
 * bytes. Whatever fails here is no failure: the program is built. Any thread, any process. */
#ifndef ENGINE_OCL_CACHE_H
#define ENGINE_OCL_CACHE_H

#include "engine/ocl_pack.h"

/* The file's bytes, for the caller to free; NULL: it is not there. It counts as used now. */
uint8_t *ocl_cache_get(const char *folder, const uint8_t key[OCL_KEY_BYTES], size_t *bytes);
void ocl_cache_put(const char *folder, const uint8_t key[OCL_KEY_BYTES], const void *data,
		   size_t bytes);
/* It was damaged. */
void ocl_cache_drop(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
/* To no more than `bytes_max`. */
void ocl_cache_trim(const char *folder, uint64_t bytes_max);

#endif
