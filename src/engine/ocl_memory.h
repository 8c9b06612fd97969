/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of an OpenCL device that does not work in ours: one allocation, or, where the
 * device gives none so large, several of one size, end to end. Addresses count from 0. DMA crosses
 * their borders; a kernel's buffer cannot.
 *
 * Immutable between create and destroy, so any thread. */
#ifndef ENGINE_OCL_MEMORY_H
#define ENGINE_OCL_MEMORY_H

#include "engine/engine.h"
#include "engine/ocl_device.h"

struct ocl_memory {
	const struct ocl_library *cl;
	uint64_t bytes;
	uint64_t chunk_bytes; /* of each chunk but the last */
	uint32_t chunk_count;
	uint32_t align; /* what a kernel's buffer must be a multiple of */
	cl_mem chunks[OCL_CHUNKS_MAX];
	cl_mem bounce; /* DMA_BOUNCE_BYTES */
};

/* A part of device memory that lies in one chunk. */
struct ocl_place {
	cl_mem chunk;
	uint64_t offset, bytes;
};

/* Logged. DXP_ENOMEM: the device has less; DXP_EIO. */
int ocl_memory_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
		      struct ocl_memory *out);
void ocl_memory_destroy(struct ocl_memory *m);

/* [address, address + bytes), or its beginning up to the border of a chunk. */
struct ocl_place ocl_memory_place(const struct ocl_memory *m, uint64_t address, uint64_t bytes);

/* What a kernel gets for a buffer: to be released. NULL: `text` says why, *status is DXP_EINVAL or
 * DXP_EDEVICE. */
cl_mem ocl_memory_buffer(const struct ocl_memory *m, const struct engine_argument *a,
			 uint32_t index, int *status, char text[ENGINE_TEXT_BYTES]);

#endif
