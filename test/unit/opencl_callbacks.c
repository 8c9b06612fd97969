/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how the plugin reports completions, by callbacks and to waiting threads. */
#include "test/unit/opencl_events_rig.h"

struct record {
	cl_int status[8];
	_Atomic uint32_t count;
};

static void CL_CALLBACK callback_record(cl_event e, cl_int status, void *data)
{
	struct record *h = data;

	/* allowed: the plugin holds no lock, and the event is alive */
	status_of(e);
	h->status[h->count] = status;
	h->count++;
}

static void await_records(const struct record *h, uint32_t count)
{
	for (int i = 0; i < 5000 && h->count < count; i++)
		usleep(1000);
	usleep(2000);
	assert_int_equal(h->count, count);
}

/* Callbacks for each state of a command are called once, although no thread waits for the
 * command. */
static void callback__each_state_once(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event(), e = marker(q, 1, &u);
	struct record h = {0};

	assert_int_equal(dxp_clSetEventCallback(e, CL_COMPLETE, callback_record, &h), CL_SUCCESS);
	assert_int_equal(dxp_clSetEventCallback(e, CL_RUNNING, callback_record, &h), CL_SUCCESS);
	assert_int_equal(dxp_clSetEventCallback(e, CL_SUBMITTED, callback_record, &h), CL_SUCCESS);
	assert_int_equal(dxp_clSetEventCallback(e, CL_QUEUED, callback_record, &h),
			 CL_INVALID_VALUE);
	assert_int_equal(dxp_clSetEventCallback(e, CL_COMPLETE, NULL, &h), CL_INVALID_VALUE);
	await_records(&h, 1);
	assert_int_equal(h.status[0], CL_SUBMITTED);
	release(e); /* later callbacks still get a live event */
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	await_records(&h, 3);
	assert_int_equal(h.status[1] + h.status[2], CL_COMPLETE + CL_RUNNING);
	assert_int_equal(dxp_clSetEventCallback(u, CL_COMPLETE, callback_record, &h), CL_SUCCESS);
	await_records(&h, 4);
	release(u);
	dxp_clReleaseCommandQueue(q);
}

static void callback__of_a_failed_command(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event u = user_event(), e = marker(q, 1, &u);
	struct record h = {0};

	dxp_clSetEventCallback(e, CL_COMPLETE, callback_record, &h);
	dxp_clSetUserEventStatus(u, -5);
	await_records(&h, 1);
	assert_int_equal(h.status[0], CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	release(u);
	release(e);
	dxp_clReleaseCommandQueue(q);
}

/* A callback waits for this lock while a thread in clWaitForEvents holds it. */
static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;

static void CL_CALLBACK locks(cl_event e, cl_int status, void *data)
{
	pthread_mutex_lock(&programs_lock);
	callback_record(e, status, data);
	pthread_mutex_unlock(&programs_lock);
}

static void callback__may_lock_what_the_waiter_holds(void **state)
{
	cl_command_queue q = queue_new(0, 0);
	cl_event e = marker(q, 0, NULL), u = user_event(), f = marker(q, 1, &u);
	struct record h = {0};

	pthread_mutex_lock(&programs_lock);
	dxp_clSetEventCallback(e, CL_COMPLETE, locks, &h);
	dxp_clSetUserEventStatus(u, CL_COMPLETE);
	assert_int_equal(dxp_clFinish(q), CL_SUCCESS);
	pthread_mutex_unlock(&programs_lock);
	await_records(&h, 1);
	release(e);
	release(f);
	release(u);
	dxp_clReleaseCommandQueue(q);
}

static void *set_later(void *event)
{
	usleep(20000);
	dxp_clSetUserEventStatus(event, CL_COMPLETE);
	return NULL;
}

static void wait__for_a_user_event_of_another_thread(void **state)
{
	cl_event u = user_event();
	pthread_t thread;

	pthread_create(&thread, NULL, set_later, u);
	assert_int_equal(dxp_clWaitForEvents(1, &u), CL_SUCCESS);
	pthread_join(thread, NULL);
	release(u);
}

#define THREADS 4
#define ROUNDS  500

static void *work(void *queue)
{
	struct record h = {0};
	uint32_t record = 0;

	for (int i = 0; i < ROUNDS; i++) {
		cl_event a = NULL, b = NULL, u = dxp_clCreateUserEvent(context, NULL);
		dxp_clEnqueueMarkerWithWaitList(queue, 1, &u, &a);
		if (i % 50 == 0 && record < 8) {
			dxp_clSetEventCallback(a, CL_COMPLETE, callback_record, &h);
			record++;
		}
		dxp_clSetUserEventStatus(u, CL_COMPLETE);
		dxp_clEnqueueMarkerWithWaitList(queue, 1, &a, &b);
		if (dxp_clWaitForEvents(1, &b) != CL_SUCCESS || a->status != CL_COMPLETE)
			return queue;
		if (i % 7 == 0 && dxp_clFinish(queue) != CL_SUCCESS)
			return queue;
		dxp_clReleaseEvent(a);
		dxp_clReleaseEvent(b);
		dxp_clReleaseEvent(u);
	}
	for (int i = 0; i < 5000 && h.count < record; i++)
		usleep(1000);
	return h.count == record ? NULL : queue;
}

static void wait__many_threads(void **state)
{
	pthread_t threads[THREADS];
	cl_command_queue queues[2];
	void *failed = NULL;

	queues[0] = queue_new(0, 0);
	queues[1] = queue_new(1, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, queues[i % 2]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	usleep(5000);
	dxp_clReleaseCommandQueue(queues[0]);
	dxp_clReleaseCommandQueue(queues[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(callback__each_state_once),
		TEST(callback__of_a_failed_command),
		TEST(callback__may_lock_what_the_waiter_holds),
		TEST(wait__for_a_user_event_of_another_thread),
		TEST(wait__many_threads),
	};

	fake_node(64u << 20, true);
	fake_node(64u << 20, true);
	fake_node(64u << 20, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
