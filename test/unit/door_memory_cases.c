/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory objects, case by case: what a call refuses, what is moved and what is not, maps, images,
 * ends of objects, nodes that are lost, commands that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doors/opencl/memory.h"
#include "test/support/door/fake_fabric.h"

const cl_icd_dispatch door_dispatch;

void program_lost(cl_device_id d)
{
}

#define KIB 1024u

static cl_device_id devices[2];
static cl_context context;
static cl_command_queue queues[2];
static uint32_t events_before;

static int setup(void **state)
{
	cl_uint count = 0;
	cl_int error;

	fake_hold(false);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 2, devices, &count), 0);
	context = dxp_clCreateContext(NULL, 2, devices, NULL, NULL, &error);
	assert_non_null(context);
	events_before = fake_events();
	for (int i = 0; i < 2; i++)
		queues[i] = dxp_clCreateCommandQueue(context, devices[i], 0, &error);
	fake_sent = fake_written = fake_read = 0;
	return 0;
}

static int teardown(void **state)
{
	fake_hold(false);
	for (int i = 0; i < 2; i++) {
		dxp_clFinish(queues[i]);
		assert_int_equal(dxp_clReleaseCommandQueue(queues[i]), CL_SUCCESS);
	}
	assert_int_equal(context->object.holds, 0);
	assert_int_equal(dxp_clReleaseContext(context), CL_SUCCESS);
	assert_true(fake_events() <= events_before + 1);
	return 0;
}

static cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int error = 1;
	cl_mem m = dxp_clCreateBuffer(context, flags, bytes, host, &error);

	assert_int_equal(error, CL_SUCCESS);
	return m;
}

static void release(cl_mem m)
{
	assert_int_equal(dxp_clReleaseMemObject(m), CL_SUCCESS);
}

static void fill(int queue, cl_mem m, uint8_t value, size_t at, size_t bytes)
{
	assert_int_equal(
		dxp_clEnqueueFillBuffer(queues[queue], m, &value, 1, at, bytes, 0, NULL, NULL),
		CL_SUCCESS);
}

static cl_int read_byte(int queue, cl_mem m, size_t at)
{
	uint8_t byte = 0;
	cl_int error =
		dxp_clEnqueueReadBuffer(queues[queue], m, CL_TRUE, at, 1, &byte, 0, NULL, NULL);

	return error ? error : byte;
}

/* Has the bytes at a device, as a kernel that reads or writes them does. */
static cl_int use(int queue, cl_mem m, enum memory_access access, cl_uint count,
		  const cl_event *list, cl_event *out)
{
	uint64_t address;
	struct enqueue e;
	dxp_event event = 0;

	cl_int error = enqueue_begin(&e, queues[queue], CL_COMMAND_NDRANGE_KERNEL, count, list);
	if (error)
		return error;
	error = memory_ready(&e, m, 0, m->bytes, access, &address);
	if (!error) {
		assert_int_equal(dxp_mark(e.device->xpu, &e.waits, &event), DXP_OK);
		memory_used(&e, m, 0, m->bytes, access, event);
	}
	return enqueue_end(&e, error, event, false, out);
}

/* ---- making ---- */

static void create__refuses(void **state)
{
	static char host[16];
	static const struct {
		cl_mem_flags flags;
		size_t bytes;
		void *host;
		cl_int error;
	} rows[] = {
		{0, 0, NULL, CL_INVALID_BUFFER_SIZE},
		{0, SIZE_MAX, NULL, CL_INVALID_BUFFER_SIZE},
		{CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, CL_INVALID_VALUE},
		{CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16, host, CL_INVALID_VALUE},
		{CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 16, host, CL_INVALID_VALUE},
		{CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 16, NULL, CL_INVALID_VALUE},
		{1u << 30, 16, NULL, CL_INVALID_VALUE},
		{0, 16, host, CL_INVALID_HOST_PTR},
		{CL_MEM_COPY_HOST_PTR, 16, NULL, CL_INVALID_HOST_PTR},
		{CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 16, host, CL_SUCCESS},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl_int error = 1;
		cl_mem m = dxp_clCreateBuffer(context, rows[i].flags, rows[i].bytes, rows[i].host,
					      &error);
		assert_int_equal(error, rows[i].error);
		assert_int_equal(m != NULL, error == CL_SUCCESS);
		if (m)
			release(m);
	}
	cl_int error;
	assert_null(dxp_clCreateBuffer(NULL, 0, 1, NULL, &error));
	assert_int_equal(error, CL_INVALID_CONTEXT);
	const cl_mem_properties list[] = {1, 2, 0};
	assert_null(dxp_clCreateBufferWithProperties(context, list, 0, 1, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
}

static cl_int sub_error(cl_mem m, cl_mem_flags flags, size_t origin, size_t bytes)
{
	const cl_buffer_region r = {origin, bytes};
	cl_int error = 1;
	cl_mem s = dxp_clCreateSubBuffer(m, flags, CL_BUFFER_CREATE_TYPE_REGION, &r, &error);

	if (s)
		release(s);
	return error;
}

static void sub_buffer__refuses(void **state)
{
	cl_mem m = buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 4096, NULL);

	assert_int_equal(sub_error(m, 0, 1024, 1024), CL_SUCCESS);
	assert_int_equal(sub_error(m, 0, 4096, 1), CL_INVALID_VALUE);
	assert_int_equal(sub_error(m, 0, 0, 4097), CL_INVALID_VALUE);
	assert_int_equal(sub_error(m, 0, 0, 0), CL_INVALID_BUFFER_SIZE);
	assert_int_equal(sub_error(m, 0, 1, 16), CL_MISALIGNED_SUB_BUFFER_OFFSET);
	assert_int_equal(sub_error(m, CL_MEM_READ_WRITE, 0, 16), CL_INVALID_VALUE);
	assert_int_equal(sub_error(m, CL_MEM_HOST_WRITE_ONLY, 0, 16), CL_INVALID_VALUE);
	assert_int_equal(sub_error(m, CL_MEM_COPY_HOST_PTR, 0, 16), CL_INVALID_VALUE);
	release(m);
	assert_int_equal(sub_error(m, 0, 0, 16), CL_INVALID_MEM_OBJECT);
}

static void sub_buffer__is_part_of_its_buffer(void **state)
{
	const cl_buffer_region r = {1024, 512};
	cl_mem m = buffer(0, 4096, NULL);
	cl_mem s = dxp_clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, NULL);
	size_t offset = 0;
	cl_mem whole = NULL;

	assert_int_equal(dxp_clGetMemObjectInfo(s, CL_MEM_OFFSET, sizeof offset, &offset, NULL), 0);
	assert_int_equal(offset, 1024);
	assert_int_equal(
		dxp_clGetMemObjectInfo(s, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL),
		0);
	assert_ptr_equal(whole, m);
	fill(0, m, 1, 0, 4096);
	fill(1, s, 2, 0, 512);
	dxp_clFinish(queues[0]);
	dxp_clFinish(queues[1]);
	assert_int_equal(read_byte(0, m, 1023), 1);
	assert_int_equal(read_byte(0, m, 1024), 2);
	assert_int_equal(read_byte(0, m, 1536), 1);
	/* It keeps the whole alive. */
	release(m);
	assert_int_equal(read_byte(1, s, 511), 2);
	release(s);
}

static char called[8], names[3][2] = {"a", "b", "c"};

static void CL_CALLBACK note_call(cl_mem m, void *data)
{
	strcat(called, data);
}

static void destructors__last_first(void **state)
{
	cl_mem m = buffer(0, 16, NULL);

	called[0] = 0;
	assert_int_equal(dxp_clSetMemObjectDestructorCallback(m, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(dxp_clSetMemObjectDestructorCallback(m, note_call, names[0]), CL_SUCCESS);
	assert_int_equal(dxp_clSetMemObjectDestructorCallback(m, note_call, names[1]), CL_SUCCESS);
	assert_int_equal(dxp_clSetMemObjectDestructorCallback(m, note_call, names[2]), CL_SUCCESS);
	fake_hold(true);
	fill(0, m, 1, 0, 16);
	release(m);
	/* Its command has not ended. */
	assert_string_equal(called, "");
	fake_hold(false);
	dxp_clFinish(queues[0]);
	assert_string_equal(called, "cba");
}

/* ---- what is moved ---- */

static void moves__only_what_is_stale(void **state)
{
	cl_mem m = buffer(0, 64 * KIB, NULL);

	fill(0, m, 1, 0, 64 * KIB);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 64 * KIB);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(use(0, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 64 * KIB);
	fill(0, m, 2, 100, 10);
	dxp_clFinish(queues[0]);
	assert_int_equal(use(1, m, MEMORY_READ_WRITE, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 64 * KIB + 10);
	dxp_clFinish(queues[1]);
	assert_int_equal(use(0, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 128 * KIB + 10);
	assert_int_equal(fake_read + fake_written, 0);
	release(m);
}

static void moves__host_bytes_to_both(void **state)
{
	static uint8_t host[4 * KIB];

	memset(host, 9, sizeof host);
	cl_mem m = buffer(CL_MEM_COPY_HOST_PTR, sizeof host, host);
	assert_int_equal(use(0, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_written, sizeof host);
	/* The second comes from the first. */
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_written, sizeof host);
	assert_int_equal(fake_sent, sizeof host);
	/* The host has them still. */
	assert_int_equal(read_byte(0, m, 5), 9);
	assert_int_equal(fake_read, 1);
	release(m);
}

static void moves__nothing_that_nobody_wrote(void **state)
{
	cl_mem m = buffer(0, 4 * KIB, NULL);

	assert_int_equal(use(0, m, MEMORY_READ_WRITE, 0, NULL, NULL), CL_SUCCESS);
	cl_mem n = buffer(0, 4 * KIB, NULL);
	assert_int_equal(use(1, n, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent + fake_written + fake_read, 0);
	release(m);
	release(n);
}

static void migrate__before_it_is_wanted(void **state)
{
	cl_mem m = buffer(0, 4 * KIB, NULL);

	fill(0, m, 1, 0, 4 * KIB);
	dxp_clFinish(queues[0]);
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(queues[1], 1, &m, 0, 0, NULL, NULL), 0);
	assert_int_equal(fake_sent, 4 * KIB);
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(queues[1], 1, &m,
							CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL),
			 0);
	assert_int_equal(fake_read, 4 * KIB);
	dxp_clFinish(queues[1]);
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(queues[0], 1, &m,
							CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0,
							NULL, NULL),
			 0);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 4 * KIB);
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(queues[0], 0, &m, 0, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(queues[0], 1, &m, 8, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	release(m);
}

/* ---- failures ---- */

/* What only the lost node had cannot be read until it is written again. */
static void lost__what_only_it_had(void **state)
{
	cl_mem m = buffer(0, 8 * KIB, NULL);

	fill(0, m, 1, 0, 8 * KIB);
	dxp_clFinish(queues[0]);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	fill(0, m, 2, 0, 4 * KIB);
	dxp_clFinish(queues[0]);
	dxp_clFinish(queues[1]);
	fake_lose(0);
	/* Somebody notices. */
	dxp_clEnqueueMarkerWithWaitList(queues[0], 0, NULL, NULL);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_DEVICE_NOT_AVAILABLE);
	assert_int_equal(read_byte(1, m, 0), CL_DEVICE_NOT_AVAILABLE);
	assert_int_equal(read_byte(1, m, 4 * KIB), 1);
	fill(1, m, 3, 0, 4 * KIB);
	assert_int_equal(read_byte(1, m, 0), 3);
	fake_return(0);
	for (uint32_t i = 0; i < 200 && !devices[0]->xpu; i++) {
		devices[0]->retry_ns = 0;
		dxp_clEnqueueMarkerWithWaitList(queues[0], 0, NULL, NULL);
	}
	assert_non_null(devices[0]->xpu);
	assert_int_equal(use(0, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(read_byte(0, m, 4 * KIB), 1);
	release(m);
}

/* A command is cancelled, and so is the transfer for it: the bytes are where they were. */
static void failed__transfer_is_taken_back(void **state)
{
	cl_mem m = buffer(0, 4 * KIB, NULL);
	cl_event u = dxp_clCreateUserEvent(context, NULL), e = NULL;
	uint8_t got[2] = {0};

	fill(0, m, 7, 0, 4 * KIB);
	dxp_clFinish(queues[0]);
	assert_int_equal(use(1, m, MEMORY_READ, 1, &u, &e), CL_SUCCESS);
	assert_int_equal(dxp_clSetUserEventStatus(u, -5), CL_SUCCESS);
	assert_int_equal(dxp_clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	dxp_clReleaseEvent(u);
	dxp_clReleaseEvent(e);
	assert_int_equal(dxp_clEnqueueReadBuffer(queues[1], m, CL_TRUE, 8, 2, got, 0, NULL, NULL),
			 0);
	assert_int_equal(got[0], 7);
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_sent, 8 * KIB);
	release(m);
}

/* ---- order with the host ---- */

/* A write whose bytes a read has yet to bring, however few. */
static void host__read_then_write(void **state)
{
	cl_mem m = buffer(0, 64, NULL), n = buffer(0, 64, NULL);
	uint8_t between[8] = {0};
	cl_event read = NULL;

	fill(0, m, 5, 0, 64);
	dxp_clFinish(queues[0]);
	fake_hold(true);
	assert_int_equal(
		dxp_clEnqueueReadBuffer(queues[0], m, CL_FALSE, 0, 8, between, 0, NULL, &read), 0);
	assert_int_equal(
		dxp_clEnqueueWriteBuffer(queues[1], n, CL_FALSE, 0, 8, between, 1, &read, NULL), 0);
	fake_hold(false);
	dxp_clFinish(queues[1]);
	dxp_clReleaseEvent(read);
	assert_int_equal(read_byte(1, n, 7), 5);
	release(m);
	release(n);
}

/* It has been copied when the call returns, and nobody is waited for. */
static void host__small_blocking_write(void **state)
{
	cl_mem m = buffer(0, 64, NULL);
	uint8_t byte = 3;

	fake_hold(true);
	fill(0, m, 1, 0, 64);
	assert_int_equal(
		dxp_clEnqueueWriteBuffer(queues[0], m, CL_TRUE, 1, 1, &byte, 0, NULL, NULL), 0);
	byte = 4;
	fake_hold(false);
	assert_int_equal(read_byte(0, m, 1), 3);
	release(m);
}

/* Kernels on two devices by turns, of which none ends: what the thousandth waits for is no more
 * than what the third does, and it comes after all of them. */
static void chain__waits_stay_few(void **state)
{
	static const uint32_t most[] = {2, 2, 4, 4};
	cl_mem m = buffer(0, KIB, NULL);
	cl_event before = NULL, event, first = NULL;

	fake_hold(true);
	fake_most_waits();
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(use(i % 2, m, MEMORY_READ_WRITE, before ? 1 : 0,
				     before ? &before : NULL, &event),
				 CL_SUCCESS);
		assert_in_range(fake_most_waits(), 0, most[i < 4 ? i : 3]);
		if (!first)
			first = before;
		else if (before)
			dxp_clReleaseEvent(before);
		before = event;
	}
	assert_int_equal(fake_sent, 999 * KIB);
	/* In a line: one command at a time can end. */
	for (uint32_t i = 0; i < 1999; i++) {
		assert_true(before->status > CL_COMPLETE);
		assert_int_equal(fake_step(1, i), 1);
	}
	assert_int_equal(dxp_clWaitForEvents(1, &before), CL_SUCCESS);
	assert_int_equal(first->status, CL_COMPLETE);
	dxp_clReleaseEvent(first);
	dxp_clReleaseEvent(before);
	fake_hold(false);
	release(m);
}

/* One device writes and another reads, again and again: neither names what is long over. */
static void chain__writer_and_reader(void **state)
{
	cl_mem m = buffer(0, KIB, NULL);
	cl_event before = NULL, event;

	fake_hold(true);
	fake_most_waits();
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(use(i % 2, m, i % 2 ? MEMORY_READ : MEMORY_WRITE, before ? 1 : 0,
				     before ? &before : NULL, &event),
				 CL_SUCCESS);
		if (before)
			dxp_clReleaseEvent(before);
		before = event;
	}
	assert_in_range(fake_most_waits(), 1, 4);
	dxp_clReleaseEvent(before);
	fake_hold(false);
	release(m);
}

static void map__several(void **state)
{
	static uint8_t host[256];
	cl_mem m = buffer(CL_MEM_USE_HOST_PTR, sizeof host, host);
	cl_uint count = 0;
	cl_int error;

	uint8_t *a = dxp_clEnqueueMapBuffer(queues[0], m, CL_TRUE, CL_MAP_READ, 0, 100, 0, NULL,
					    NULL, &error);
	uint8_t *b = dxp_clEnqueueMapBuffer(queues[1], m, CL_TRUE, CL_MAP_WRITE, 100, 20, 0, NULL,
					    NULL, &error);
	assert_ptr_equal(a, host);
	assert_ptr_equal(b, host + 100);
	dxp_clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof count, &count, NULL);
	assert_int_equal(count, 2);
	b[0] = 77;
	assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[1], m, b, 0, NULL, NULL), 0);
	assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[0], m, a, 0, NULL, NULL), 0);
	assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[0], m, a, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(use(0, m, MEMORY_READ_WRITE, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(read_byte(0, m, 100), 77);
	release(m);
}

/* A map beside a write of the same bytes may show either; one after both shows what was written. */
static void beside_a_write(uint64_t seed)
{
	cl_mem m = buffer(0, 64, NULL);
	uint8_t *map;
	cl_int error;

	fill(0, m, 1, 0, 64);
	dxp_clFinish(queues[0]);
	fake_hold(true);
	fill(0, m, 2, 0, 64);
	map = dxp_clEnqueueMapBuffer(queues[1], m, CL_FALSE, CL_MAP_READ, 0, 64, 0, NULL, NULL,
				     &error);
	assert_non_null(map);
	/* The one or the other first. */
	fake_step(1, seed);
	fake_hold(false);
	dxp_clFinish(queues[0]);
	dxp_clFinish(queues[1]);
	assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[1], m, map, 0, NULL, NULL), 0);
	map = dxp_clEnqueueMapBuffer(queues[0], m, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL,
				     &error);
	assert_int_equal(map[0], 2);
	assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[0], m, map, 0, NULL, NULL), 0);
	release(m);
}

static void map__beside_a_write(void **state)
{
	for (uint64_t seed = 1; seed <= 32; seed++)
		beside_a_write(seed * 0x9e3779b97f4a7c15u);
}

static void map__refuses(void **state)
{
	cl_mem m = buffer(CL_MEM_HOST_READ_ONLY, 64, NULL);
	static const struct {
		cl_map_flags flags;
		size_t at, bytes;
		cl_int error;
	} rows[] = {
		{CL_MAP_READ, 0, 0, CL_INVALID_VALUE},
		{CL_MAP_READ, 60, 5, CL_INVALID_VALUE},
		{CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, CL_INVALID_VALUE},
		{8, 0, 4, CL_INVALID_VALUE},
		{CL_MAP_WRITE, 0, 4, CL_INVALID_OPERATION},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl_int error = 1;
		assert_null(dxp_clEnqueueMapBuffer(queues[0], m, CL_TRUE, rows[i].flags, rows[i].at,
						   rows[i].bytes, 0, NULL, NULL, &error));
		assert_int_equal(error, rows[i].error);
	}
	assert_int_equal(m->map_count, 0);
	release(m);
}

/* ---- images ---- */

static cl_mem image(cl_mem_object_type type, size_t width, size_t height, size_t third)
{
	const cl_image_format f = {CL_RGBA, CL_UNORM_INT8};
	const cl_image_desc d = {
		.image_type = type,
		.image_width = width,
		.image_height = height,
		.image_depth = third,
		.image_array_size = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? height : third,
	};
	cl_int error = 1;
	cl_mem m = dxp_clCreateImage(context, 0, &f, &d, NULL, &error);

	assert_int_equal(error, CL_SUCCESS);
	return m;
}

/* Each kind: filled, a region written on one device, read on the other, copied, mapped. */
static void image__regions(void **state)
{
	static const cl_mem_object_type types[] = {
		CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
		CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

	for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
		size_t h = t ? 6 : 1, z = t > 2 ? 5 : 1;
		cl_mem m = image(types[t], 8, h, z), n = image(types[t], 8, h, z);
		const size_t zero[3] = {0}, whole[3] = {8, h, z};
		const size_t origin[3] = {2, h / 2, z / 2},
			     region[3] = {3, (h + 1) / 2, (z + 1) / 2};
		const float color[4] = {1, 0, 0, 1};
		uint32_t expected[240], got[240], part[240];

		for (size_t i = 0; i < 8 * h * z; i++)
			expected[i] = 0xff0000ff;
		for (size_t i = 0; i < 240; i++)
			part[i] = (uint32_t)(i * 0x01010101u);
		for (size_t i = 0; i < region[0] * region[1] * region[2]; i++) {
			size_t x = i % region[0], y = i / region[0] % region[1],
			       w = i / region[0] / region[1];
			expected[((w + origin[2]) * h + y + origin[1]) * 8 + x + origin[0]] =
				part[i];
		}
		assert_int_equal(
			dxp_clEnqueueFillImage(queues[0], m, color, zero, whole, 0, NULL, NULL), 0);
		assert_int_equal(dxp_clEnqueueWriteImage(queues[0], m, CL_TRUE, origin, region, 0,
							 0, part, 0, NULL, NULL),
				 0);
		dxp_clFinish(queues[0]);
		assert_int_equal(
			dxp_clEnqueueCopyImage(queues[1], m, n, zero, zero, whole, 0, NULL, NULL),
			0);
		assert_int_equal(dxp_clEnqueueReadImage(queues[1], n, CL_TRUE, zero, whole, 0, 0,
							got, 0, NULL, NULL),
				 0);
		assert_memory_equal(got, expected, 32 * h * z);
		size_t row, slice;
		cl_int error;
		uint8_t *map = dxp_clEnqueueMapImage(queues[0], m, CL_TRUE, CL_MAP_READ, origin,
						     region, &row, &slice, 0, NULL, NULL, &error);
		assert_int_equal(error, CL_SUCCESS);
		assert_memory_equal(map, part, 4 * region[0]);
		assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[0], m, map, 0, NULL, NULL), 0);
		const size_t beyond[3] = {8, h, z + 1};
		assert_int_equal(dxp_clEnqueueReadImage(queues[1], n, CL_TRUE, zero, beyond, 0, 0,
							got, 0, NULL, NULL),
				 CL_INVALID_VALUE);
		release(m);
		release(n);
	}
}

static void image__of_a_buffer(void **state)
{
	const cl_image_format f = {CL_RGBA, CL_UNORM_INT8};
	cl_mem b = buffer(0, 64, NULL);
	const cl_image_desc d = {
		.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16, .buffer = b};
	const size_t zero[3] = {0}, whole[3] = {16, 1, 1};
	uint8_t got[64];
	cl_int error = 1;
	cl_mem m = dxp_clCreateImage(context, 0, &f, &d, NULL, &error), of = NULL;

	assert_int_equal(error, CL_SUCCESS);
	dxp_clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof of, &of, NULL);
	assert_ptr_equal(of, b);
	fill(0, b, 6, 0, 64);
	assert_int_equal(dxp_clEnqueueReadImage(queues[0], m, CL_TRUE, zero, whole, 0, 0, got, 0,
						NULL, NULL),
			 0);
	assert_int_equal(got[63], 6);
	release(b);
	release(m);
}

static void image__refuses(void **state)
{
	const cl_image_format good = {CL_RGBA, CL_UNORM_INT8}, none = {CL_RGB, CL_UNORM_INT8},
			      other = {CL_RGBA, CL_SIGNED_INT16};
	const struct {
		const cl_image_format *format;
		cl_image_desc desc;
		cl_int error;
	} rows[] = {
		{NULL, {.image_type = CL_MEM_OBJECT_IMAGE1D}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
		{&none,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 1},
		 CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
		{&other,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 1},
		 CL_IMAGE_FORMAT_NOT_SUPPORTED},
		{&good, {.image_type = CL_MEM_OBJECT_IMAGE1D}, CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5000},
		 CL_INVALID_IMAGE_SIZE},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5, .image_row_pitch = 20},
		 CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5, .num_samples = 1},
		 CL_INVALID_IMAGE_DESCRIPTOR},
		{&good, {.image_type = CL_MEM_OBJECT_BUFFER}, CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 1},
		 CL_INVALID_IMAGE_DESCRIPTOR},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl_int error = 1;
		assert_null(
			dxp_clCreateImage(context, 0, rows[i].format, &rows[i].desc, NULL, &error));
		assert_int_equal(error, rows[i].error);
	}
}

static void sampler__properties(void **state)
{
	const cl_sampler_properties good[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
				    twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR,
					       CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
				    bad[] = {CL_SAMPLER_FILTER_MODE, 1, 0};
	cl_int error = 1;
	cl_uint filter = 0;
	size_t bytes = 0;
	cl_sampler s = dxp_clCreateSamplerWithProperties(context, good, &error);

	assert_int_equal(error, CL_SUCCESS);
	dxp_clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL);
	assert_int_equal(filter, CL_FILTER_LINEAR);
	dxp_clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, 0, NULL, &bytes);
	assert_int_equal(bytes, sizeof good);
	assert_int_equal(dxp_clReleaseSampler(s), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseSampler(s), CL_INVALID_SAMPLER);
	assert_null(dxp_clCreateSamplerWithProperties(context, twice, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateSamplerWithProperties(context, bad, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateSampler(context, CL_TRUE, 7, CL_FILTER_LINEAR, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create__refuses),
		TEST(sub_buffer__refuses),
		TEST(sub_buffer__is_part_of_its_buffer),
		TEST(destructors__last_first),
		TEST(moves__only_what_is_stale),
		TEST(moves__host_bytes_to_both),
		TEST(moves__nothing_that_nobody_wrote),
		TEST(migrate__before_it_is_wanted),
		TEST(failed__transfer_is_taken_back),
		TEST(host__read_then_write),
		TEST(host__small_blocking_write),
		TEST(chain__waits_stay_few),
		TEST(chain__writer_and_reader),
		TEST(map__several),
		TEST(map__beside_a_write),
		TEST(map__refuses),
		TEST(image__regions),
		TEST(image__of_a_buffer),
		TEST(image__refuses),
		TEST(sampler__properties),
		TEST(lost__what_only_it_had),
	};

	for (int i = 0; i < 2; i++)
		fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
