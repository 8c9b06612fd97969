/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sub-buffers, views of a buffer: a write to one view is visible in all others. */
#include "rig.h"

#define BYTES 65536u

/* Bytes; valid on every device. */
static size_t alignment(void)
{
	size_t most = 1;

	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_uint bits = 0;
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits),
				   &bits, NULL));
		most = bits / 8 > most ? bits / 8 : most;
	}
	return most;
}

static cl_mem part_of(cl_mem m, size_t origin, size_t size)
{
	cl_buffer_region region = {origin, size};
	cl_mem part = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR);

	MADE(part);
	return part;
}

static void subbuffers__are_windows(void)
{
	uint8_t *model = rig_noise(BYTES), *back = rig_memory(BYTES), *piece = rig_memory(BYTES);
	size_t align = alignment();
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);

	for (int round = 0; round < 40; round++) {
		size_t origin = rig_below(BYTES / align) * align;
		size_t size = 1 + rig_below(BYTES - origin);
		size_t at = rig_below(size), count = 1 + rig_below(size - at);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		cl_mem part = part_of(m, origin, size);
		rig_read(q, part, back, size);
		SAME_BYTES(back, model + origin, size);
		rig_scramble(piece, count);
		OK(clEnqueueWriteBuffer(q, part, CL_TRUE, at, count, piece, 0, NULL, NULL));
		memcpy(model + origin + at, piece, count);
		OK(clReleaseMemObject(part));
		rig_read(q, m, back, BYTES);
		SAME_BYTES(back, model, BYTES);
	}
	OK(clReleaseMemObject(m));
}

static const char add_source[] = "kernel void add(global uint *a, global const uint *b)\n"
				 "{ size_t i = get_global_id(0); a[i] += b[i]; }\n";

/* Kernels use two sub-buffers of one buffer, each time on a random device. */
static void subbuffers__in_kernels_on_every_device(void)
{
	enum { PART = 4096 }; /* bytes */
	uint32_t *model = rig_noise(BYTES), *back = rig_memory(BYTES);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);
	cl_kernel k = rig_kernel(add_source, "add");
	size_t global = PART / 4;

	for (int round = 0; round < 30; round++) {
		size_t a = rig_below(BYTES / PART), b = rig_below(BYTES / PART);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		if (a == b)
			continue;
		cl_mem to = part_of(m, a * PART, PART), from = part_of(m, b * PART, PART);
		SET(k, 0, to);
		SET(k, 1, from);
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clFinish(q));
		OK(clReleaseMemObject(to));
		OK(clReleaseMemObject(from));
		for (size_t i = 0; i < global; i++)
			model[a * PART / 4 + i] += model[b * PART / 4 + i];
	}
	rig_read(rig.queues[0], m, back, BYTES);
	SAME_BYTES(back, model, BYTES);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static void subbuffers__outlive_their_parent(void)
{
	uint8_t *model = rig_noise(BYTES), *back = rig_memory(BYTES);
	size_t align = alignment();
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);
	cl_mem part = part_of(m, align, 1000);

	OK(clReleaseMemObject(m));
	rig_read(rig.queues[0], part, back, 1000);
	SAME_BYTES(back, model + align, 1000);
	OK(clReleaseMemObject(part));
}

static void subbuffers__of_host_memory(void)
{
	uint8_t *host = rig_noise(BYTES), *copy = rig_memory(BYTES);
	size_t align = alignment();
	cl_int error;

	memcpy(copy, host, BYTES);
	cl_mem m = rig_buffer(CL_MEM_USE_HOST_PTR, BYTES, host);
	cl_mem part = part_of(m, 2 * align, 5000);
	void *pointer = NULL;
	OK(clGetMemObjectInfo(part, CL_MEM_HOST_PTR, sizeof(pointer), &pointer, NULL));
	CHECK(pointer == host + 2 * align);
	uint8_t *map = clEnqueueMapBuffer(rig.queues[0], part, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
					  10, 100, 0, NULL, NULL, &error);
	OK(error);
	CHECK(map == host + 2 * align + 10);
	memset(map, 0x5a, 100);
	memset(copy + 2 * align + 10, 0x5a, 100);
	OK(clEnqueueUnmapMemObject(rig.queues[0], part, map, 0, NULL, NULL));
	uint8_t *back = rig_memory(BYTES);
	rig_read(rig.queues[rig.device_count - 1], m, back, BYTES);
	SAME_BYTES(back, copy, BYTES);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(m));
}

static void subbuffers__queries(void)
{
	size_t align = alignment(), value = 0;
	cl_mem m = rig_buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, BYTES, NULL);
	cl_mem part = part_of(m, align, 77), parent = NULL;
	cl_mem_flags flags = 0;

	OK(clGetMemObjectInfo(part, CL_MEM_SIZE, sizeof(value), &value, NULL));
	EQUAL(value, 77);
	OK(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof(value), &value, NULL));
	EQUAL(value, align);
	OK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
	CHECK(parent == m);
	OK(clGetMemObjectInfo(part, CL_MEM_FLAGS, sizeof(flags), &flags, NULL));
	EQUAL(flags, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(m));
}

static void subbuffers__rejected(void)
{
	size_t align = alignment();
	cl_buffer_region good = {align, 64}, outside = {BYTES - align, align + 1}, empty = {0, 0},
			 crooked = {1, 64};
	cl_mem m = rig_buffer(CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY, BYTES, NULL);
	cl_mem part = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &good, ERR);

	MADE(part);
	const cl_buffer_create_type region = CL_BUFFER_CREATE_TYPE_REGION;
	REJECTED(clCreateSubBuffer(NULL, 0, region, &good, ERR), CL_INVALID_MEM_OBJECT);
	REJECTED(clCreateSubBuffer(part, 0, region, &good, ERR), CL_INVALID_MEM_OBJECT);
	REJECTED(clCreateSubBuffer(m, 0, 0x7777, &good, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, 0, region, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, 0, region, &outside, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, 0, region, &empty, ERR), CL_INVALID_BUFFER_SIZE);
	REJECTED(clCreateSubBuffer(m, 0, region, &crooked, ERR), CL_MISALIGNED_SUB_BUFFER_OFFSET);
	REJECTED(clCreateSubBuffer(m, CL_MEM_READ_ONLY, region, &good, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, CL_MEM_READ_WRITE, region, &good, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, CL_MEM_HOST_READ_ONLY, region, &good, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, CL_MEM_USE_HOST_PTR, region, &good, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, CL_MEM_COPY_HOST_PTR, region, &good, ERR), CL_INVALID_VALUE);
	FAILS(clEnqueueCopyBuffer(rig.queues[0], m, part, align + 32, 0, 64, 0, NULL, NULL),
	      CL_MEM_COPY_OVERLAP);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(subbuffers__are_windows), CASE(subbuffers__in_kernels_on_every_device),
	 CASE(subbuffers__outlive_their_parent), CASE(subbuffers__of_host_memory),
	 CASE(subbuffers__queries), CASE(subbuffers__rejected))
