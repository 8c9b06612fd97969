/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of memory objects: two devices with a queue each. */
#ifndef TEST_UNIT_OPENCL_MEMORY_RIG_H
#define TEST_UNIT_OPENCL_MEMORY_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "plugins/opencl/memory/memory.h"
#include "test/support/opencl/fake_fabric.h"

const cl_icd_dispatch opencl_dispatch;

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

UNUSED static cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int error = 1;
	cl_mem m = dxp_clCreateBuffer(context, flags, bytes, host, &error);

	assert_int_equal(error, CL_SUCCESS);
	return m;
}

UNUSED static void release(cl_mem m)
{
	assert_int_equal(dxp_clReleaseMemObject(m), CL_SUCCESS);
}

UNUSED static void fill(int queue, cl_mem m, uint8_t value, size_t at, size_t bytes)
{
	assert_int_equal(
		dxp_clEnqueueFillBuffer(queues[queue], m, &value, 1, at, bytes, 0, NULL, NULL),
		CL_SUCCESS);
}

UNUSED static cl_int read_byte(int queue, cl_mem m, size_t at)
{
	uint8_t byte = 0;
	cl_int error =
		dxp_clEnqueueReadBuffer(queues[queue], m, CL_TRUE, at, 1, &byte, 0, NULL, NULL);

	return error ? error : byte;
}

/* Makes the bytes available at the device of a queue, as a kernel that reads or writes them would
 * need it. */
UNUSED static cl_int use(int queue, cl_mem m, enum memory_access access, cl_uint count,
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
