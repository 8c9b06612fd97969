/* SPDX-License-Identifier: BSD-3-Clause */
/* BRIDGED memory of an OpenCL device: one allocation, or several chunks if the device does not
 * allow an allocation of this size. Chunks are of equal size and follow each other. Addresses start
 * at 0. A DMA may cross the boundary between chunks, but a kernel's buffer may not.
 *
 * The struct does not change after its creation, so any thread may use it. */
#ifndef ENGINE_OCL_MEMORY_H
#define ENGINE_OCL_MEMORY_H

#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/ocl_device.h"

struct ocl_memory {
	const struct ocl_library *cl;
	uint64_t bytes;
	uint64_t chunk_bytes; /* bytes of each chunk; the last chunk may be shorter */
	uint32_t chunk_count;
	uint32_t align; /* bytes: alignment of a buffer for a kernel */
	cl_mem chunks[OCL_CHUNKS_MAX];
	cl_mem bounce; /* buffer of FLIGHT_BOUNCE_BYTES for overlapping copies */
};

/* A range of device memory within one chunk. */
struct ocl_range {
	cl_mem chunk;
	uint64_t offset, bytes;
};

/* Allocates device memory; logs errors. DXP_ENOMEM: the device has less memory. */
int ocl_memory_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
		      struct ocl_memory *out);
void ocl_memory_destroy(struct ocl_memory *m);

/* Returns the first part of [address, address + bytes) that lies in one chunk. */
struct ocl_range ocl_memory_range(const struct ocl_memory *m, uint64_t address, uint64_t bytes);

/* Returns a buffer for a kernel, which the caller releases. On error returns NULL and sets `text`;
 * *status is then DXP_EINVAL or DXP_EDEVICE. */
cl_mem ocl_memory_buffer(const struct ocl_memory *m, const struct engine_argument *a,
			 uint32_t index, int *status, char text[ENGINE_TEXT_BYTES]);

#endif
