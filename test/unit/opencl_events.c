/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the plugin's events over a controlled fabric: order, status, times, user events, lost
 * devices. */
#include "test/unit/opencl_events_rig.h"

#include "base/clock.h"
#include "plugins/opencl/node/device.h"

static void in_order__each_waits_for_the_one_before(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event();
	cl_event a = marker(q, 1, &u), b = marker(q, 0, NULL);

	assert_int_equal(fake_last_waits(), 1);
	assert_int_equal(status_of(u), CL_SUBMITTED);
	assert_int_equal(status_of(a), CL_SUBMITTED);
	assert_int_equal(status_of(b), CL_SUBMITTED);
	assert_int_equal(dxp_clSetUserEventStatus(u, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(dxp_clFinish(q), CL_SUCCESS);
	assert_int_equal(status_of(a), CL_COMPLETE);
	assert_int_equal(status_of(b), CL_COMPLETE);
	release(u);
	release(a);
	release(b);
	dxp_clReleaseCommandQueue(q);
}

static void in_order__other_queues_do_not_wait(void **state)
{
	cl_command_queue p = queue_new(0, 0), q = queue_new(1, 0);
	cl_event u = user_event(), a = marker(p, 1, &u), b = marker(q, 0, NULL);

	assert_int_equal(status_of(b), CL_COMPLETE);
	assert_int_equal(status_of(a), CL_SUBMITTED);
	/* on another device, by its wait list */
	cl_event c = marker(q, 1, &a);
	assert_int_equal(status_of(c), CL_SUBMITTED);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clWaitForEvents(1, &c), CL_SUCCESS);
	assert_int_equal(status_of(a), CL_COMPLETE);
	release(u);
	release(a);
	release(b);
	release(c);
	dxp_clReleaseCommandQueue(p);
	dxp_clReleaseCommandQueue(q);
}

static void failed__cancels_waiting_commands_and_no_later_one(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event();
	cl_event a = marker(q, 1, &u);

	dxp_clSetUserEventStatus(u, -77);
	assert_int_equal(status_of(u), -77);
	assert_int_equal(dxp_clWaitForEvents(1, &a), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(status_of(a), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	/* the user event has failed before */
	cl_event b = marker(q, 1, &u);
	assert_int_equal(dxp_clWaitForEvents(1, &b), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	cl_event c = marker(q, 0, NULL);
	assert_int_equal(dxp_clWaitForEvents(1, &c), CL_SUCCESS);
	release(u);
	release(a);
	release(b);
	release(c);
	dxp_clReleaseCommandQueue(q);
}

static void out_of_order__only_barriers_bind(void **state)
{
	cl_command_queue q = queue_new(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event u = user_event(), v = user_event();
	cl_event a = marker(q, 1, &u), b = marker(q, 1, &v);

	dxp_clSetUserEventStatus(v, CL_COMPLETE);
	assert_int_equal(dxp_clWaitForEvents(1, &b), CL_SUCCESS);
	assert_int_equal(status_of(a), CL_SUBMITTED);
	cl_event barrier = NULL;
	assert_int_equal(dxp_clEnqueueBarrierWithWaitList(q, 0, NULL, &barrier), CL_SUCCESS);
	assert_int_equal(fake_last_waits(), 1);
	cl_event c = marker(q, 1, &v);
	assert_int_equal(fake_last_waits(), 1);
	assert_int_equal(status_of(c), CL_SUBMITTED);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clFinish(q), CL_SUCCESS);
	assert_int_equal(status_of(c), CL_COMPLETE);
	assert_null(q->barrier);
	release(u);
	release(v);
	release(a);
	release(b);
	release(c);
	release(barrier);
	dxp_clReleaseCommandQueue(q);
}

/* Here for 100 commands. */
static void out_of_order__marker_waits_for_all(void **state)
{
	cl_command_queue q = queue_new(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event u = user_event();

	for (int i = 0; i < 100; i++)
		release(marker(q, 1, &u));
	cl_event all = marker(q, 0, NULL);
	assert_int_equal(fake_last_waits(), 100);
	assert_int_equal(status_of(all), CL_SUBMITTED);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clWaitForEvents(1, &all), CL_SUCCESS);
	release(all);
	release(u);
	dxp_clReleaseCommandQueue(q);
}

static void queue__released_with_work_stays(void **state)
{
	cl_command_queue q = queue_new(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event u = user_event(), a = marker(q, 1, &u);

	assert_int_equal(dxp_clEnqueueBarrier(q), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseCommandQueue(q), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseCommandQueue(q), CL_INVALID_COMMAND_QUEUE);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clWaitForEvents(1, &a), CL_SUCCESS);
	release(a);
	release(u);
}

static void user__forgotten_ends_its_waiters(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event(), a = marker(q, 1, &u);

	release(u);
	assert_int_equal(dxp_clWaitForEvents(1, &a), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	release(a);
	dxp_clReleaseCommandQueue(q);
}

static void user__errors(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event(), a = marker(q, 0, NULL);

	assert_int_equal(dxp_clSetUserEventStatus(u, CL_RUNNING), CL_INVALID_VALUE);
	assert_int_equal(dxp_clSetUserEventStatus(a, CL_COMPLETE), CL_INVALID_EVENT);
	assert_int_equal(dxp_clSetUserEventStatus(NULL, CL_COMPLETE), CL_INVALID_EVENT);
	assert_int_equal(dxp_clSetUserEventStatus(u, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(dxp_clSetUserEventStatus(u, CL_COMPLETE), CL_INVALID_OPERATION);
	release(u);
	release(a);
	assert_int_equal(dxp_clReleaseEvent(u), CL_INVALID_EVENT);
	dxp_clReleaseCommandQueue(q);
}

static void enqueue__errors(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event none = NULL, u = user_event();
	cl_int error;
	cl_context other = dxp_clCreateContext(NULL, 1, devices, NULL, NULL, &error);
	cl_event foreign = dxp_clCreateUserEvent(other, &error);

	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(NULL, 0, NULL, NULL),
			 CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList((cl_command_queue)context, 0, NULL, NULL),
			 CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, 1, NULL, NULL),
			 CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, 0, &u, NULL),
			 CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, 1, &none, NULL),
			 CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, 1, &foreign, NULL), CL_INVALID_CONTEXT);
	assert_int_equal(dxp_clEnqueueWaitForEvents(q, 1, &none), CL_INVALID_EVENT);
	assert_int_equal(dxp_clEnqueueWaitForEvents(q, 0, NULL), CL_INVALID_VALUE);
	assert_int_equal(dxp_clEnqueueMarker(q, NULL), CL_INVALID_VALUE);
	assert_int_equal(dxp_clWaitForEvents(0, NULL), CL_INVALID_VALUE);
	release(foreign);
	release(u);
	dxp_clReleaseContext(other);
	dxp_clReleaseCommandQueue(q);
}

static cl_ulong profile(cl_event e, cl_profiling_info name)
{
	cl_ulong ns = 0;

	assert_int_equal(dxp_clGetEventProfilingInfo(e, name, sizeof(ns), &ns, NULL), CL_SUCCESS);
	return ns;
}

/* Times are in host time and in order, although the node's clock deviates. */
static void profiling__times_are_in_order(void **state)
{
	cl_command_queue q = queue_new(0, CL_QUEUE_PROFILING_ENABLE), plain = queue_new(0, 0);
	static const int64_t aheads[] = {0, -5000000000, 1000000000000};
	uint64_t before = clock_now_ns();
	cl_ulong ns;

	for (size_t i = 0; i < sizeof(aheads) / sizeof(aheads[0]); i++) {
		fake_clock_ahead(aheads[i]);
		/* The offset of the clocks is right at i = 0, is measured here at i = 1, and is
		 * wrong at i = 2. */
		if (i == 1)
			assert_int_equal(dxp_clGetDeviceAndHostTimer(devices[0], &ns, &ns), 0);
		cl_event u = user_event(), e = marker(q, 1, &u);
		assert_int_equal(dxp_clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END,
							     sizeof(ns), &ns, NULL),
				 CL_PROFILING_INFO_NOT_AVAILABLE);
		dxp_clSetUserEventStatus(u, CL_COMPLETE);
		dxp_clFinish(q);
		assert_true(before <= profile(e, CL_PROFILING_COMMAND_QUEUED));
		assert_true(profile(e, CL_PROFILING_COMMAND_QUEUED) <=
			    profile(e, CL_PROFILING_COMMAND_SUBMIT));
		assert_true(profile(e, CL_PROFILING_COMMAND_SUBMIT) <=
			    profile(e, CL_PROFILING_COMMAND_START));
		assert_true(profile(e, CL_PROFILING_COMMAND_START) <=
			    profile(e, CL_PROFILING_COMMAND_END));
		assert_true(profile(e, CL_PROFILING_COMMAND_END) <= clock_now_ns());
		assert_int_equal(dxp_clGetEventProfilingInfo(u, CL_PROFILING_COMMAND_END,
							     sizeof(ns), &ns, NULL),
				 CL_PROFILING_INFO_NOT_AVAILABLE);
		release(e);
		release(u);
	}
	fake_clock_ahead(0);
	dxp_clGetDeviceAndHostTimer(devices[0], &ns, &ns);
	cl_event e = marker(plain, 0, NULL);
	assert_int_equal(
		dxp_clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, NULL),
		CL_PROFILING_INFO_NOT_AVAILABLE);
	release(e);
	dxp_clReleaseCommandQueue(q);
	dxp_clReleaseCommandQueue(plain);
}

static cl_bool available(cl_device_id d)
{
	cl_bool there = 7;

	assert_int_equal(dxp_clGetDeviceInfo(d, CL_DEVICE_AVAILABLE, sizeof(there), &there, NULL),
			 0);
	return there;
}

static uint32_t programs_lost;

static void count_loss(cl_device_id d)
{
	programs_lost++;
}

static void device__lost_and_back(void **state)
{
	cl_command_queue q = queue_new(0, 0), other = queue_new(1, 0);
	cl_event u = user_event();
	cl_event a = marker(q, 1, &u), b = marker(q, 0, NULL), c = marker(other, 1, &a);
	uint32_t generation = devices[0]->generation, lost = programs_lost;

	device_lost_with(LOST_PROGRAMS, count_loss);
	cl_int error;

	fake_lose(0);
	assert_int_equal(dxp_clFinish(q), CL_SUCCESS);
	assert_int_equal(status_of(a), CL_DEVICE_NOT_AVAILABLE);
	assert_true(status_of(b) < 0);
	assert_int_equal(dxp_clWaitForEvents(1, &c), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_false(available(devices[0]));
	assert_true(available(devices[1]));
	assert_int_equal(dxp_clEnqueueMarkerWithWaitList(q, 0, NULL, NULL),
			 CL_DEVICE_NOT_AVAILABLE);
	assert_null(dxp_clCreateContext(NULL, 1, devices, NULL, NULL, &error));
	assert_int_equal(error, CL_DEVICE_NOT_AVAILABLE);
	/* the other device works */
	cl_event d = marker(other, 0, NULL);
	assert_int_equal(dxp_clWaitForEvents(1, &d), CL_SUCCESS);

	fake_return(0);
	for (int i = 0; i < 10000 && !available(devices[0]); i++)
		usleep(1000);
	assert_true(available(devices[0]));
	assert_int_equal(devices[0]->generation, generation + 1);
	assert_int_equal(programs_lost, lost + 1);
	cl_event e = marker(q, 1, &d);
	assert_int_equal(dxp_clWaitForEvents(1, &e), CL_SUCCESS);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	cl_event all[] = {u, a, b, c, d, e};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		release(all[i]);
	dxp_clReleaseCommandQueue(q);
	dxp_clReleaseCommandQueue(other);
}

/* The loss of another node fails the command, but not its device. */
static void device__not_lost_by_anothers_loss(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event(), a = marker(q, 1, &u);
	uint32_t generation = devices[0]->generation;

	fake_fail_next(DXP_EPEERLOST);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clWaitForEvents(1, &a), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(status_of(a), CL_DEVICE_NOT_AVAILABLE);
	cl_event b = marker(q, 0, NULL);
	assert_int_equal(dxp_clWaitForEvents(1, &b), CL_SUCCESS);
	assert_int_equal(devices[0]->generation, generation);
	release(u);
	release(a);
	release(b);
	dxp_clReleaseCommandQueue(q);
}

static cl_context ended_context;
static int ended_order[2], ended_count;

static void CL_CALLBACK first_added(cl_context c, void *data)
{
	ended_context = c;
	assert_int_equal(dxp_clRetainContext(c), CL_INVALID_CONTEXT);
	ended_order[ended_count++] = 1;
}

static void CL_CALLBACK second_added(cl_context c, void *data)
{
	ended_order[ended_count++] = 2;
}

static void context__destructors_last_first(void **state)
{
	cl_int error;
	cl_context c = dxp_clCreateContext(NULL, 1, devices, NULL, NULL, &error);
	cl_command_queue q = dxp_clCreateCommandQueue(c, devices[0], 0, &error);

	assert_int_equal(dxp_clSetContextDestructorCallback(c, first_added, NULL), CL_SUCCESS);
	assert_int_equal(dxp_clSetContextDestructorCallback(c, second_added, NULL), CL_SUCCESS);
	assert_int_equal(dxp_clSetContextDestructorCallback(c, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(dxp_clSetContextDestructorCallback(NULL, first_added, NULL),
			 CL_INVALID_CONTEXT);
	dxp_clReleaseContext(c);
	/* the queue still holds the context */
	assert_int_equal(ended_count, 0);
	dxp_clReleaseCommandQueue(q);
	assert_int_equal(ended_count, 2);
	assert_int_equal(ended_order[0], 2);
	assert_int_equal(ended_order[1], 1);
	assert_ptr_equal(ended_context, c);
}

static void context__errors(void **state)
{
	cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform_get(),
					 CL_CONTEXT_PLATFORM, (cl_context_properties)platform_get(),
					 0};
	cl_context_properties foreign[] = {CL_CONTEXT_PLATFORM, 8, 0};
	cl_context_properties unknown[] = {0x7777, 1, 0};
	cl_device_id wrong = (cl_device_id)context;
	cl_int error = 0;

	assert_null(dxp_clCreateContext(twice, 1, devices, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(dxp_clCreateContext(foreign, 1, devices, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_PLATFORM);
	assert_null(dxp_clCreateContext(unknown, 1, devices, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(dxp_clCreateContext(NULL, 0, devices, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateContext(NULL, 1, devices, NULL, &error, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateContext(NULL, 1, &wrong, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_DEVICE);
	assert_null(dxp_clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &error));
	assert_int_equal(error, CL_DEVICE_NOT_FOUND);
	assert_null(dxp_clCreateContextFromType(NULL, 0, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_DEVICE_TYPE);
}

static void queue__properties(void **state)
{
	const cl_queue_properties on_device[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
		0};
	const cl_queue_properties sized[] = {CL_QUEUE_SIZE, 64, 0};
	const cl_queue_properties good[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
	cl_queue_properties list[3];
	size_t bytes = 0;
	cl_uint size;
	cl_int error;

	assert_null(dxp_clCreateCommandQueueWithProperties(context, devices[0], on_device, &error));
	assert_int_equal(error, CL_INVALID_QUEUE_PROPERTIES);
	assert_null(dxp_clCreateCommandQueueWithProperties(context, devices[0], sized, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateCommandQueueWithProperties(NULL, devices[0], sized, &error));
	assert_int_equal(error, CL_INVALID_CONTEXT);
	assert_null(dxp_clCreateCommandQueue(context, devices[0], 1 << 20, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateCommandQueue(context, devices[0], on_device[1], &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	cl_command_queue q =
		dxp_clCreateCommandQueueWithProperties(context, devices[0], good, &error);
	assert_non_null(q);
	assert_int_equal(
		dxp_clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &bytes),
		CL_SUCCESS);
	assert_int_equal(bytes, sizeof(good));
	assert_memory_equal(list, good, sizeof(good));
	assert_int_equal(dxp_clGetCommandQueueInfo(q, CL_QUEUE_SIZE, sizeof(size), &size, NULL),
			 CL_INVALID_COMMAND_QUEUE);
	/* there are no on-device queues */
	assert_int_equal(dxp_clSetDefaultDeviceCommandQueue(context, devices[0], NULL),
			 CL_INVALID_OPERATION);
	assert_int_equal(dxp_clSetDefaultDeviceCommandQueue(context, devices[0], q),
			 CL_INVALID_OPERATION);
	assert_int_equal(dxp_clSetDefaultDeviceCommandQueue(NULL, devices[0], q),
			 CL_INVALID_CONTEXT);
	assert_int_equal(dxp_clSetDefaultDeviceCommandQueue(context, NULL, q), CL_INVALID_DEVICE);
	dxp_clReleaseCommandQueue(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(in_order__each_waits_for_the_one_before),
		TEST(in_order__other_queues_do_not_wait),
		TEST(failed__cancels_waiting_commands_and_no_later_one),
		TEST(out_of_order__only_barriers_bind),
		TEST(out_of_order__marker_waits_for_all),
		TEST(queue__released_with_work_stays),
		TEST(user__forgotten_ends_its_waiters),
		TEST(user__errors),
		TEST(enqueue__errors),
		TEST(profiling__times_are_in_order),
		TEST(device__lost_and_back),
		TEST(device__not_lost_by_anothers_loss),
		TEST(context__destructors_last_first),
		TEST(context__errors),
		TEST(queue__properties),
	};

	fake_node(64u << 20, true);
	fake_node(64u << 20, true);
	fake_node(64u << 20, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
