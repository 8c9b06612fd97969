/* SPDX-License-Identifier: BSD-3-Clause */
/* Built programs on disk, by key. All processes that use the folder share them. The files contain
 * native code, so these processes must trust each other. A file appears completely or not at all
 * (rename). The least recently used files are removed first. After an error the program is simply
 * built again. Any thread of any process may call these functions. */
#ifndef ENGINE_OCL_CACHE_H
#define ENGINE_OCL_CACHE_H

#include "engine/ocl_pack.h"

/* Returns the content of the file, which the caller frees, and marks the file as used. NULL: not
 * found. */
uint8_t *ocl_cache_get(const char *folder, const uint8_t key[OCL_KEY_BYTES], size_t *bytes);
/* Returns whether any process has built this program before. If not, records the build as an empty
 * file. Returns true too if this file cannot be created. */
bool ocl_cache_seen(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
void ocl_cache_put(const char *folder, const uint8_t key[OCL_KEY_BYTES], const void *data,
		   size_t bytes);
/* Removes the file of a program, because it is damaged. */
void ocl_cache_drop(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
/* Removes the least recently used files until the rest has at most `bytes_max` bytes. */
void ocl_cache_trim(const char *folder, uint64_t bytes_max);

#endif
