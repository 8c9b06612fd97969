/* SPDX-License-Identifier: BSD-3-Clause */
/* Built programs on disk, by key, shared by all processes that use the folder. They contain native
 * code, so these processes must trust each other. A file appears completely or not at all (rename).
 * The least recently used are removed first. After an error the program is built again. Any thread
 * of any process. */
#ifndef ENGINE_OCL_CACHE_H
#define ENGINE_OCL_CACHE_H

#include "engine/ocl_pack.h"

/* Marks the file as used. The caller frees the content; NULL: not found. */
uint8_t *ocl_cache_get(const char *folder, const uint8_t key[OCL_KEY_BYTES], size_t *bytes);
/* True: some process has built this program before; records it by an empty file. True also if this
 * cannot be created. */
bool ocl_cache_seen(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
void ocl_cache_put(const char *folder, const uint8_t key[OCL_KEY_BYTES], const void *data,
		   size_t bytes);
void ocl_cache_drop(const char *folder, const uint8_t key[OCL_KEY_BYTES]);
/* Removes the least recently used until at most `bytes_max` bytes are left. */
void ocl_cache_trim(const char *folder, uint64_t bytes_max);

#endif
