/* SPDX-License-Identifier: BSD-3-Clause */
/* BRIDGED memory of an OpenCL device: one allocation, or several chunks of equal size, end to end,
 * if the device does not allow one so large. Addresses start at 0. DMA may cross chunk boundaries;
 * a kernel's buffer cannot.
 *
 * Immutable after create, so any thread. */
#ifndef ENGINE_OCL_MEMORY_H
#define ENGINE_OCL_MEMORY_H

#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/ocl_device.h"

struct ocl_memory {
	const struct ocl_library *cl;
	uint64_t bytes;
	uint64_t chunk_bytes; /* size of each chunk but the last */
	uint32_t chunk_count;
	uint32_t align; /* alignment of a kernel's buffer, in bytes */
	cl_mem chunks[OCL_CHUNKS_MAX];
	cl_mem bounce; /* FLIGHT_BOUNCE_BYTES */
};

/* A range of device memory within one chunk. */
struct ocl_range {
	cl_mem chunk;
	uint64_t offset, bytes;
};

/* Allocates device memory; logs errors. DXP_ENOMEM: the device has less; DXP_EIO. */
int ocl_memory_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
		      struct ocl_memory *out);
void ocl_memory_destroy(struct ocl_memory *m);

/* Returns the location of [address, address + bytes), cut at the chunk's end. */
struct ocl_range ocl_memory_range(const struct ocl_memory *m, uint64_t address, uint64_t bytes);

/* Returns a buffer for a kernel; the caller releases it. NULL: with `text`; *status is DXP_EINVAL
 * or DXP_EDEVICE. */
cl_mem ocl_memory_buffer(const struct ocl_memory *m, const struct engine_argument *a,
			 uint32_t index, int *status, char text[ENGINE_TEXT_BYTES]);

#endif
