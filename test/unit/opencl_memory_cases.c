/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory objects: rejections, which bytes move, maps, destructors, lost nodes, failed
 * commands. */
#include "test/unit/opencl_memory_rig.h"

/* ---- creation ---- */

static void create__rejects(void **state)
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

static void sub_buffer__rejects(void **state)
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
	/* the sub-buffer keeps the memory alive */
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
	/* a command still uses the memory */
	assert_string_equal(called, "");
	fake_hold(false);
	dxp_clFinish(queues[0]);
	assert_string_equal(called, "cba");
}

/* ---- moves ---- */

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
	/* from the first device */
	assert_int_equal(use(1, m, MEMORY_READ, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_written, sizeof host);
	assert_int_equal(fake_sent, sizeof host);
	/* the host still has these bytes */
	assert_int_equal(read_byte(0, m, 5), 9);
	assert_int_equal(fake_read, 1);
	release(m);
}

static void moves__nothing_that_was_never_written(void **state)
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

/* Bytes that only the lost device had cannot be read until they are written again. */
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
	/* this command detects the loss */
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

/* The transfer is cancelled with its command, so the only valid copy is still at the first
 * device. */
static void failed__transfer_is_withdrawn(void **state)
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

/* The write must send what the read has written to host memory. */
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

/* Completed at the return, not only copied. */
static void host__small_blocking_write(void **state)
{
	cl_mem m = buffer(0, 64, NULL);
	cl_event written = NULL;
	cl_int status = 77;
	uint8_t byte = 3;

	fill(0, m, 1, 0, 64);
	assert_int_equal(
		dxp_clEnqueueWriteBuffer(queues[0], m, CL_TRUE, 1, 1, &byte, 0, NULL, &written), 0);
	byte = 4;
	dxp_clGetEventInfo(written, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			   NULL);
	assert_int_equal(status, CL_COMPLETE);
	assert_int_equal(read_byte(1, m, 1), 3);
	dxp_clReleaseEvent(written);
	release(m);
}

/* Even the last of 1000 kernels on two devices waits for few commands. */
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
	/* a chain, so only one can complete at a time */
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

/* Wait lists stay short. */
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

/* A map beside a write shows old or new bytes; a map after both shows the new. */
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
	/* in either order */
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

static void map__rejects(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create__rejects),
		TEST(sub_buffer__rejects),
		TEST(sub_buffer__is_part_of_its_buffer),
		TEST(destructors__last_first),
		TEST(moves__only_what_is_stale),
		TEST(moves__host_bytes_to_both),
		TEST(moves__nothing_that_was_never_written),
		TEST(migrate__before_it_is_wanted),
		TEST(failed__transfer_is_withdrawn),
		TEST(host__read_then_write),
		TEST(host__small_blocking_write),
		TEST(chain__waits_stay_few),
		TEST(chain__writer_and_reader),
		TEST(map__several),
		TEST(map__beside_a_write),
		TEST(map__rejects),
		TEST(lost__what_only_it_had),
	};

	for (int i = 0; i < 2; i++)
		fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
