/* SPDX-License-Identifier: BSD-3-Clause */
/* BRIDGED memory of an OpenCL device: one allocation, or adjacent chunks of equal size if it would
 * be too large. Addresses start at 0. A DMA may cross chunks, but a kernel's buffer may not.
 *
 * Never changes, so any thread may use it. */
#ifndef ENGINE_OCL_MEMORY_H
#define ENGINE_OCL_MEMORY_H

#include "engine/engine.h"
#include "engine/limits.h"
#include "engine/ocl_device.h"

struct ocl_memory {
	const struct ocl_library *cl;
	uint64_t bytes;
	uint64_t chunk_bytes; /* the last chunk may be shorter */
	uint32_t chunk_count;
	uint32_t align; /* bytes; of a kernel's buffer */
	cl_mem chunks[OCL_CHUNKS_MAX];
	cl_mem bounce; /* FLIGHT_BOUNCE_BYTES for overlapping copies */
};

/* Within one chunk. */
struct ocl_range {
	cl_mem chunk;
	uint64_t offset, bytes;
};

/* Logs errors. DXP_ENOMEM: the device has less memory. */
int ocl_memory_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
		      struct ocl_memory *out);
void ocl_memory_destroy(struct ocl_memory *m);

/* The part of [address, address + bytes) in its first chunk. */
struct ocl_range ocl_memory_range(const struct ocl_memory *m, uint64_t address, uint64_t bytes);

/* The caller releases the buffer. NULL: with `text`; *status is DXP_EINVAL or DXP_EDEVICE. */
cl_mem ocl_memory_buffer(const struct ocl_memory *m, const struct engine_argument *a,
			 uint32_t index, int *status, char text[ENGINE_TEXT_BYTES]);

#endif
