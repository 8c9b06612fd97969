/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests buffer maps: every kind of host memory; overlapping and non-blocking maps; reading and
 * writing; the restrictions of CL_MEM_HOST_... flags. */
#include "rig.h"

#define BYTES 50000u

static void *map(cl_command_queue q, cl_mem m, cl_map_flags flags, size_t at, size_t bytes)
{
	void *p = clEnqueueMapBuffer(q, m, CL_TRUE, flags, at, bytes, 0, NULL, NULL, ERR);

	MADE(p);
	return p;
}

static void unmap(cl_command_queue q, cl_mem m, void *p)
{
	OK(clEnqueueUnmapMemObject(q, m, p, 0, NULL, NULL));
}

static cl_uint map_count(cl_mem m)
{
	cl_uint count = 99;
	OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof(count), &count, NULL));
	return count;
}

static void maps_by_chance(cl_mem m, uint8_t *model)
{
	uint8_t *back = rig_memory(BYTES);

	for (int round = 0; round < 60; round++) {
		size_t at = rig_below(BYTES), bytes = 1 + rig_below(BYTES - at);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		switch (rig_below(4)) {
		case 0: {
			uint8_t *p = map(q, m, CL_MAP_READ, at, bytes);
			SAME_BYTES(p, model + at, bytes);
			unmap(q, m, p);
			break;
		}
		case 1: {
			uint8_t *p = map(q, m, CL_MAP_READ | CL_MAP_WRITE, at, bytes);
			SAME_BYTES(p, model + at, bytes);
			rig_scramble(model + at, bytes / 2);
			memcpy(p, model + at, bytes / 2);
			unmap(q, m, p);
			break;
		}
		case 2: {
			uint8_t *p = map(q, m, CL_MAP_WRITE_INVALIDATE_REGION, at, bytes);
			rig_scramble(model + at, bytes);
			memcpy(p, model + at, bytes);
			unmap(q, m, p);
			break;
		}
		default:
			rig_scramble(model + at, bytes);
			OK(clEnqueueWriteBuffer(q, m, CL_TRUE, at, bytes, model + at, 0, NULL,
						NULL));
		}
		OK(clFinish(q));
	}
	rig_read(rig.queues[0], m, back, BYTES);
	SAME_BYTES(back, model, BYTES);
	EQUAL(map_count(m), 0);
	OK(clReleaseMemObject(m));
}

static void maps__of_a_buffer_by_chance(void)
{
	uint8_t *model = rig_noise(BYTES);
	maps_by_chance(rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model), model);
}

static void maps__of_memory_for_the_host(void)
{
	uint8_t *model = rig_noise(BYTES);
	maps_by_chance(rig_buffer(CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, BYTES, model),
		       model);
}

static void maps__of_the_programs_memory(void)
{
	uint8_t *model = rig_noise(BYTES), *host = rig_memory(BYTES);

	memcpy(host, model, BYTES);
	maps_by_chance(rig_buffer(CL_MEM_USE_HOST_PTR, BYTES, host), model);
}

static void maps__lie_in_the_programs_memory(void)
{
	uint8_t *host = rig_noise(BYTES), *copy = rig_memory(BYTES);

	memcpy(copy, host, BYTES);
	cl_mem m = rig_buffer(CL_MEM_USE_HOST_PTR, BYTES, host);
	cl_command_queue q = rig.queues[rig.device_count - 1];
	uint32_t pattern = 0x01020304;
	OK(clEnqueueFillBuffer(q, m, &pattern, 4, 400, 4000, 0, NULL, NULL));
	for (size_t i = 400; i < 4400; i += 4)
		memcpy(copy + i, &pattern, 4);
	uint8_t *p = map(q, m, CL_MAP_READ, 100, 20000);
	CHECK(p == host + 100);
	SAME_BYTES(p, copy + 100, 20000);
	unmap(q, m, p);
	OK(clFinish(q));
	OK(clReleaseMemObject(m));
}

static void maps__overlap(void)
{
	uint8_t *model = rig_noise(BYTES);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);
	cl_command_queue q = rig.queues[0];
	uint8_t *a = map(q, m, CL_MAP_READ, 0, 20000), *b = map(q, m, CL_MAP_READ, 10000, 20000),
		*c = map(q, m, CL_MAP_READ, 10000, 20000);

	EQUAL(map_count(m), 3);
	CHECK(b == a + 10000 && c == b); /* a buffer has one host address */
	SAME_BYTES(a, model, 20000);
	SAME_BYTES(b, model + 10000, 20000);
	unmap(q, m, a);
	unmap(q, m, b);
	OK(clFinish(q));
	EQUAL(map_count(m), 1);
	SAME_BYTES(c, model + 10000, 20000);
	unmap(q, m, c);
	OK(clFinish(q));
	EQUAL(map_count(m), 0);
	OK(clReleaseMemObject(m));
}

static void maps__not_blocking(void)
{
	uint8_t *model = rig_noise(BYTES), *back = rig_memory(BYTES);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);
	cl_command_queue q = rig.queues[0];
	uint8_t pattern = 0x77;
	cl_event mapped = NULL, unmapped = NULL;
	cl_command_type type = 0;

	OK(clEnqueueFillBuffer(q, m, &pattern, 1, 0, 1000, 0, NULL, NULL));
	memset(model, pattern, 1000);
	uint8_t *p = clEnqueueMapBuffer(q, m, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 500, 2000, 0,
					NULL, &mapped, ERR);
	MADE(p);
	OK(clGetEventInfo(mapped, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_MAP_BUFFER);
	OK(clWaitForEvents(1, &mapped));
	SAME_BYTES(p, model + 500, 2000);
	memset(p, 0x11, 1500);
	memset(model + 500, 0x11, 1500);
	OK(clEnqueueUnmapMemObject(q, m, p, 1, &mapped, &unmapped));
	OK(clGetEventInfo(unmapped, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_UNMAP_MEM_OBJECT);
	OK(clEnqueueReadBuffer(rig.queues[rig.device_count - 1], m, CL_TRUE, 0, BYTES, back, 1,
			       &unmapped, NULL));
	SAME_BYTES(back, model, BYTES);
	OK(clReleaseEvent(mapped));
	OK(clReleaseEvent(unmapped));
	OK(clReleaseMemObject(m));
}

static void maps__rejected(void)
{
	cl_mem m = rig_buffer(0, 1024, NULL);
	cl_command_queue q = rig.queues[0];
	uint8_t other[64];

	REJECTED(clEnqueueMapBuffer(NULL, m, 1, CL_MAP_READ, 0, 64, 0, NULL, NULL, ERR),
		 CL_INVALID_COMMAND_QUEUE);
	REJECTED(clEnqueueMapBuffer(q, NULL, 1, CL_MAP_READ, 0, 64, 0, NULL, NULL, ERR),
		 CL_INVALID_MEM_OBJECT);
	REJECTED(clEnqueueMapBuffer(q, m, 1, CL_MAP_READ, 1000, 64, 0, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clEnqueueMapBuffer(q, m, 1, CL_MAP_READ, 0, 0, 0, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED_BUT_POCL(
		clEnqueueMapBuffer(q, m, 1, (cl_map_flags)1 << 30, 0, 64, 0, NULL, NULL, ERR),
		CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clEnqueueMapBuffer(q, m, 1, CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_WRITE,
					     0, 64, 0, NULL, NULL, ERR),
			  CL_INVALID_VALUE);
	FAILS(clEnqueueUnmapMemObject(q, m, other, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueUnmapMemObject(q, m, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
	uint8_t *p = map(q, m, CL_MAP_READ, 0, 64);
	FAILS(clEnqueueUnmapMemObject(NULL, m, p, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueUnmapMemObject(q, NULL, p, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	unmap(q, m, p);
	OK(clFinish(q));
	FAILS(clEnqueueUnmapMemObject(q, m, p, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clReleaseMemObject(m));
}

static void hostflags__forbid_reading(void)
{
	static const cl_mem_flags flags[] = {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS};
	size_t region[3] = {4, 1, 1}, at[3] = {0, 0, 0};
	uint32_t x = 0;

	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		cl_mem m = rig_buffer(flags[i], 64, NULL);
		cl_command_queue q = rig.queues[0];
		FAILS(clEnqueueReadBuffer(q, m, 1, 0, 4, &x, 0, NULL, NULL), CL_INVALID_OPERATION);
		FAILS(clEnqueueReadBufferRect(q, m, 1, at, at, region, 0, 0, 0, 0, &x, 0, NULL,
					      NULL),
		      CL_INVALID_OPERATION);
		REJECTED(clEnqueueMapBuffer(q, m, 1, CL_MAP_READ, 0, 4, 0, NULL, NULL, ERR),
			 CL_INVALID_OPERATION);
		OK(clReleaseMemObject(m));
	}
}

static void hostflags__forbid_writing(void)
{
	static const cl_mem_flags flags[] = {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS};
	size_t region[3] = {4, 1, 1}, at[3] = {0, 0, 0};
	uint32_t x = 0;

	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		cl_mem m = rig_buffer(flags[i], 64, NULL);
		cl_command_queue q = rig.queues[0];
		FAILS(clEnqueueWriteBuffer(q, m, 1, 0, 4, &x, 0, NULL, NULL), CL_INVALID_OPERATION);
		FAILS(clEnqueueWriteBufferRect(q, m, 1, at, at, region, 0, 0, 0, 0, &x, 0, NULL,
					       NULL),
		      CL_INVALID_OPERATION);
		REJECTED(clEnqueueMapBuffer(q, m, 1, CL_MAP_WRITE, 0, 4, 0, NULL, NULL, ERR),
			 CL_INVALID_OPERATION);
		REJECTED(clEnqueueMapBuffer(q, m, 1, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL,
					    NULL, ERR),
			 CL_INVALID_OPERATION);
		OK(clReleaseMemObject(m));
	}
}

/* Without host access to a buffer, copies on devices still work, and the initial data is
 * present. */
static void hostflags__leave_devices_alone(void)
{
	uint8_t *data = rig_noise(1000), *back = rig_memory(1000);
	cl_mem m = rig_buffer(CL_MEM_HOST_NO_ACCESS | CL_MEM_COPY_HOST_PTR, 1000, data);
	cl_mem seen = rig_buffer(CL_MEM_HOST_READ_ONLY, 1000, NULL);

	OK(clEnqueueCopyBuffer(rig.queues[0], m, seen, 0, 0, 1000, 0, NULL, NULL));
	rig_read(rig.queues[0], seen, back, 1000);
	SAME_BYTES(back, data, 1000);
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(seen));
}

RIG_MAIN(CASE(maps__of_a_buffer_by_chance), CASE(maps__of_memory_for_the_host),
	 CASE(maps__of_the_programs_memory), CASE(maps__lie_in_the_programs_memory),
	 CASE(maps__overlap), CASE(maps__not_blocking), CASE(maps__rejected),
	 CASE(hostflags__forbid_reading), CASE(hostflags__forbid_writing),
	 CASE(hostflags__leave_devices_alone))
