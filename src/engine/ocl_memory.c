/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_memory.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"

#define PAGE_BYTES 4096u

/* Many drivers allocate memory, or fail, only at the first write. */
static cl_mem buffer_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
			    cl_int *error)
{
	const struct ocl_library *cl;
	const char zero = 0;

	ocl_library_get(&cl);
	cl_mem buffer =
		cl->clCreateBuffer(ocl_device_context(d), CL_MEM_READ_WRITE, bytes, NULL, error);
	if (!buffer)
		return NULL;
	*error = cl->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, bytes - 1, 1, &zero, 0, NULL,
					  NULL);
	if (*error == CL_SUCCESS)
		return buffer;
	cl->clReleaseMemObject(buffer);
	return NULL;
}

static void chunks_release(struct ocl_memory *m)
{
	while (m->chunk_count > 0)
		m->cl->clReleaseMemObject(m->chunks[--m->chunk_count]);
}

static cl_int chunks_create(struct ocl_device *d, cl_command_queue queue, struct ocl_memory *m)
{
	cl_int error = CL_SUCCESS;

	for (uint64_t at = 0; at < m->bytes; at += m->chunk_bytes) {
		uint64_t bytes = min_u64(m->chunk_bytes, m->bytes - at);
		cl_mem chunk = buffer_create(d, queue, bytes, &error);
		if (!chunk) {
			chunks_release(m);
			return error;
		}
		m->chunks[m->chunk_count++] = chunk;
	}
	return CL_SUCCESS;
}

static uint64_t chunk_limit(struct ocl_device *d, const struct ocl_library *cl)
{
	cl_ulong bytes = 0;

	cl->clGetDeviceInfo(ocl_device_id(d), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(bytes), &bytes,
			    NULL);
	return bytes - bytes % PAGE_BYTES;
}

/* Tries one allocation first, because some devices allow more than their stated maximum. */
static cl_int memory_allocate(struct ocl_device *d, cl_command_queue queue, struct ocl_memory *m)
{
	uint64_t limit = chunk_limit(d, m->cl);

	m->chunk_bytes = m->bytes;
	cl_int error = chunks_create(d, queue, m);
	if (error == CL_SUCCESS || limit == 0 || limit >= m->bytes ||
	    (m->bytes - 1) / limit >= OCL_CHUNKS_MAX)
		return error;
	m->chunk_bytes = limit;
	return chunks_create(d, queue, m);
}

static uint32_t base_align(struct ocl_device *d, const struct ocl_library *cl)
{
	cl_uint bits = 0;

	cl->clGetDeviceInfo(ocl_device_id(d), CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits,
			    NULL);
	return bits >= 8 ? bits / 8 : 1;
}

int ocl_memory_create(struct ocl_device *d, cl_command_queue queue, uint64_t bytes,
		      struct ocl_memory *out)
{
	struct ocl_memory m = {.bytes = bytes};
	cl_ulong there = 0;

	ocl_library_get(&m.cl);
	m.align = base_align(d, m.cl);
	cl_int error = memory_allocate(d, queue, &m);
	if (error == CL_SUCCESS) {
		m.bounce = buffer_create(d, queue, FLIGHT_BOUNCE_BYTES, &error);
		if (!m.bounce)
			chunks_release(&m);
	}
	if (!m.bounce) {
		m.cl->clGetDeviceInfo(ocl_device_id(d), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(there),
				      &there, NULL);
		log_error("OpenCL device '%s' cannot allocate %llu MiB of memory: %s (%d); it has "
			  "%llu MiB; use a smaller --memory",
			  ocl_device_name(d), (unsigned long long)(bytes >> 20),
			  ocl_error_name(error), error, (unsigned long long)(there >> 20));
		return DXP_ENOMEM;
	}
	if (m.chunk_count > 1)
		log_info("OpenCL device '%s' allocates at most %llu MiB at once; its memory is "
			 "split into %u allocations",
			 ocl_device_name(d), (unsigned long long)(m.chunk_bytes >> 20),
			 m.chunk_count);
	if (m.align > ENGINE_ALIGN)
		log_warn("OpenCL device '%s' needs buffers aligned to %u bytes, allocations are "
			 "aligned to %u; some kernels may fail",
			 ocl_device_name(d), m.align, ENGINE_ALIGN);
	*out = m;
	return DXP_OK;
}

void ocl_memory_destroy(struct ocl_memory *m)
{
	m->cl->clReleaseMemObject(m->bounce);
	chunks_release(m);
}

struct ocl_range ocl_memory_range(const struct ocl_memory *m, uint64_t address, uint64_t bytes)
{
	uint64_t offset = address % m->chunk_bytes;

	return (struct ocl_range){
		.chunk = m->chunks[address / m->chunk_bytes],
		.offset = offset,
		.bytes = min_u64(bytes, m->chunk_bytes - offset),
	};
}

/* Reports the caller's errors more clearly than the device would. */
static bool buffer_possible(const struct ocl_memory *m, const struct engine_argument *a,
			    uint32_t index, char text[ENGINE_TEXT_BYTES])
{
	unsigned long long address = a->address;

	if (a->memory_bytes == 0 || a->memory_bytes > m->bytes ||
	    a->address > m->bytes - a->memory_bytes) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: address %#llx and %llu bytes are not in device memory",
			 index, address, (unsigned long long)a->memory_bytes);
		return false;
	}
	if (a->address % m->align != 0) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: address %#llx is not a multiple of %u, as this device "
			 "needs; pass the start of the allocation, and the offset as a value",
			 index, address, m->align);
		return false;
	}
	if (ocl_memory_range(m, a->address, a->memory_bytes).bytes < a->memory_bytes) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: %llu bytes at %#llx cross a multiple of %#llx, at which the "
			 "device's memory is split into two allocations; use smaller buffers",
			 index, (unsigned long long)a->memory_bytes, address,
			 (unsigned long long)m->chunk_bytes);
		return false;
	}
	return true;
}

cl_mem ocl_memory_buffer(const struct ocl_memory *m, const struct engine_argument *a,
			 uint32_t index, int *status, char text[ENGINE_TEXT_BYTES])
{
	*status = DXP_EINVAL;
	if (!buffer_possible(m, a, index, text))
		return NULL;
	struct ocl_range range = ocl_memory_range(m, a->address, a->memory_bytes);
	cl_buffer_region region = {.origin = range.offset, .size = range.bytes};
	cl_int error;
	cl_mem buffer = m->cl->clCreateSubBuffer(range.chunk, 0, CL_BUFFER_CREATE_TYPE_REGION,
						 &region, &error);
	if (buffer)
		return buffer;
	*status = DXP_EDEVICE;
	snprintf(text, ENGINE_TEXT_BYTES,
		 "argument %u: the device cannot create its buffer: %s (%d)", index,
		 ocl_error_name(error), error);
	return NULL;
}
