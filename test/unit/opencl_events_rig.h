/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of the plugin's events: a context of two devices on a controlled fabric. */
#ifndef TEST_UNIT_OPENCL_EVENTS_RIG_H
#define TEST_UNIT_OPENCL_EVENTS_RIG_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/node/device.h"
#include "test/support/opencl/fake_fabric.h"

const cl_icd_dispatch opencl_dispatch;

static cl_device_id devices[2];
static cl_context context;
static uint32_t events_before;

static int setup(void **state)
{
	cl_int error;
	cl_uint count = 0;

	fake_hold(false);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 2, devices, &count), 0);
	assert_int_equal(count, 2);
	context = dxp_clCreateContext(NULL, 2, devices, NULL, NULL, &error);
	assert_non_null(context);
	events_before = fake_events();
	return 0;
}

/* Nothing is left in plugin or fabric, except one failed event, which the plugin keeps for commands
 * with a failed predecessor. */
static int teardown(void **state)
{
	cl_uint count = 0;

	assert_int_equal(dxp_clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count),
					      &count, NULL),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(context->object.holds, 0);
	assert_int_equal(dxp_clReleaseContext(context), CL_SUCCESS);
	assert_true(fake_events() <= events_before + 1);
	return 0;
}

UNUSED static cl_command_queue queue_new(unsigned device, cl_command_queue_properties properties)
{
	cl_int error = 1;
	cl_command_queue q = dxp_clCreateCommandQueue(context, devices[device], properties, &error);

	assert_int_equal(error, CL_SUCCESS);
	return q;
}

UNUSED static cl_int status_of(cl_event e)
{
	cl_int status = 99;

	assert_int_equal(dxp_clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
					    &status, NULL),
			 CL_SUCCESS);
	return status;
}

UNUSED static cl_event marker(cl_command_queue q, cl_uint count, const cl_event *list)
{
	cl_event e = NULL;

	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, count, list, &e), CL_SUCCESS);
	return e;
}

UNUSED static cl_event user_event(void)
{
	cl_int error = 1;
	cl_event e = dxp_clCreateUserEvent(context, &error);

	assert_int_equal(error, CL_SUCCESS);
	return e;
}

UNUSED static void release(cl_event e)
{
	assert_int_equal(dxp_clReleaseEvent(e), CL_SUCCESS);
}

#endif
