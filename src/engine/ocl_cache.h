/* SPDX-License-Identifier: BSD-3-Clause */
/* Built programs on disk, by key, for all processes that have the folder. They hold native code, so
 * these processes trust each other. Files appear completely or not at all (rename); the least
 * recently used files are removed first. After an error the program is built again. Any thread, any
 * process. */
#ifndef ENGINE_OCL_CACHE_H
#define ENGINE_OCL_CACHE_H

#include "engine/ocl_pack.h"

/* Returns the file's bytes, which the caller frees, and marks it as used; NULL: not found. */
uint8_t *ocl_cache_get(const char *folder, const uint8_t key[OCL_KEY_BYTES], size_t *bytes);
/* Returns whether a process built this program before. If not, records this build as an empty
 * file. */
bool ocl_cache_seen(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
void ocl_cache_put(const char *folder, const uint8_t key[OCL_KEY_BYTES], const void *data,
		   size_t bytes);
/* Removes a damaged file. */
void ocl_cache_drop(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
/* Removes old files until at most `bytes_max` remain. */
void ocl_cache_trim(const char *folder, uint64_t bytes_max);

#endif
