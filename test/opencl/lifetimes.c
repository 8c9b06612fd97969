/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests objects that are released while they are in use. A program may release objects in any
 * order. */
#include "rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
	"kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

/* All handles are released before the commands can start. */
static void lifetimes__all_is_released_before_the_work(void)
{
	cl_context c = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);
	const char *text = source;
	size_t global = 16;
	int in[16] = {0}, out[16] = {0};

	MADE(c);
	cl_command_queue q = clCreateCommandQueueWithProperties(c, rig.devices[0], NULL, ERR);
	MADE(q);
	cl_event gate = clCreateUserEvent(c, ERR), end;
	MADE(gate);
	cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, ERR);
	MADE(p);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	cl_kernel k = clCreateKernel(p, "add", ERR);
	MADE(k);
	cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, sizeof(in), NULL, ERR);
	MADE(m);
	SET(k, 0, m);
	SET(k, 1, (cl_int){7});
	OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, sizeof(in), in, 1, &gate, NULL));
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(q, m, CL_FALSE, 0, sizeof(out), out, 0, NULL, &end));
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(c));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
	OK(clWaitForEvents(1, &end));
	OK(clReleaseEvent(end));
	for (int i = 0; i < 16; i++)
		EQUAL(out[i], 7);
}

/* A program may retain objects again that it finds by queries, as C++ and Python wrappers do. */
static void lifetimes__found_again_in_what_needs_it(void)
{
	cl_context c = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR), again = NULL;
	const char *text = source;
	cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, ERR), same = NULL;
	const cl_buffer_region region = {0, 64};
	cl_mem whole = NULL;

	MADE(p);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	cl_kernel k = clCreateKernel(p, "add", ERR);
	MADE(k);
	cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, 256, NULL, ERR);
	MADE(m);
	cl_mem part = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR);
	MADE(part);
	cl_command_queue q = clCreateCommandQueueWithProperties(c, rig.devices[0], NULL, ERR);
	MADE(q);
	OK(clReleaseMemObject(m));
	OK(clReleaseProgram(p));
	OK(clReleaseContext(c));
	OK(clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof(again), &again, NULL));
	OK(clRetainContext(again));
	OK(clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof(same), &same, NULL));
	OK(clRetainProgram(same));
	OK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(whole), &whole, NULL));
	OK(clRetainMemObject(whole));
	cl_mem another = clCreateBuffer(again, CL_MEM_READ_WRITE, 64, NULL, ERR);
	MADE(another);
	OK(clEnqueueFillBuffer(q, whole, "abcd", 4, 0, 256, 0, NULL, NULL));
	OK(clEnqueueCopyBuffer(q, whole, another, 64, 0, 64, 0, NULL, NULL));
	OK(clFinish(q));
	OK(clReleaseMemObject(another));
	OK(clReleaseMemObject(whole));
	OK(clReleaseMemObject(part));
	OK(clReleaseProgram(same));
	OK(clReleaseKernel(k));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(again));
	FAILS_BUT_POCL(clReleaseContext(again), CL_INVALID_CONTEXT);
	FAILS_BUT_POCL(clReleaseProgram(same), CL_INVALID_PROGRAM);
	FAILS_BUT_POCL(clReleaseMemObject(whole), CL_INVALID_MEM_OBJECT);
}

static atomic_int called, order[8];

static void CL_CALLBACK destroyed(cl_mem m, void *data)
{
	order[called] = (int)(intptr_t)data;
	called++;
}

static bool until(atomic_int *count, int wanted)
{
	uint64_t end = rig_now_ns() + 10000000000u;

	while (*count < wanted && rig_now_ns() < end)
		;
	return *count == wanted;
}

/* A destructor callback runs only after the last command that uses the memory has completed. */
static void lifetimes__destructors_wait_for_commands(void)
{
	cl_event gate = clCreateUserEvent(rig.context, ERR);
	uint8_t *host = rig_memory(4096);

	called = 0;
	MADE(gate);
	cl_mem m = rig_buffer(CL_MEM_USE_HOST_PTR, 4096, host);
	for (intptr_t i = 1; i <= 3; i++)
		OK(clSetMemObjectDestructorCallback(m, destroyed, (void *)i));
	OK(clEnqueueFillBuffer(rig.queues[0], m, "x", 1, 0, 4096, 1, &gate, NULL));
	OK(clReleaseMemObject(m));
	EQUAL(called, 0);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFinish(rig.queues[0]));
	CHECK(until(&called, 3));
	EQUAL(order[0], 3);
	EQUAL(order[1], 2);
	EQUAL(order[2], 1);
	OK(clReleaseEvent(gate));
}

static void lifetimes__parts_end_before_the_whole(void)
{
	const cl_buffer_region region = {0, 1024};
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 4096, NULL);
	cl_mem part = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR);

	called = 0;
	MADE(part);
	OK(clSetMemObjectDestructorCallback(m, destroyed, (void *)1));
	OK(clSetMemObjectDestructorCallback(part, destroyed, (void *)2));
	OK(clReleaseMemObject(m));
	EQUAL(called, 0);
	OK(clReleaseMemObject(part));
	CHECK(until(&called, 2));
	EQUAL(order[0], 2);
	EQUAL(order[1], 1);
}

static void lifetimes__user_events_are_set_once(void)
{
	cl_event e = clCreateUserEvent(rig.context, ERR);

	MADE(e);
	FAILS(clSetUserEventStatus(e, CL_QUEUED), CL_INVALID_VALUE);
	FAILS(clSetUserEventStatus(e, CL_RUNNING), CL_INVALID_VALUE);
	EQUAL(rig_status(e), CL_SUBMITTED);
	OK(clSetUserEventStatus(e, -5));
	EQUAL(rig_status(e), -5);
	FAILS(clSetUserEventStatus(e, CL_COMPLETE), CL_INVALID_OPERATION);
	FAILS(clSetUserEventStatus(e, -5), CL_INVALID_OPERATION);
	FAILS(clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	OK(clReleaseEvent(e));
	OK(clEnqueueMarkerWithWaitList(rig.queues[0], 0, NULL, &e));
	FAILS(clSetUserEventStatus(e, CL_COMPLETE), CL_INVALID_EVENT);
	OK(clReleaseEvent(e));
}

/* A blocking command that waits for a failed event returns an error. */
static void lifetimes__blocking_behind_a_failure(void)
{
	if (rig.pocl)
		rig_skip("PoCL waits for ever");
	cl_event gate = clCreateUserEvent(rig.context, ERR);
	uint8_t bytes[64];
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 64, NULL);
	cl_command_queue q = rig_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

	MADE(gate);
	OK(clSetUserEventStatus(gate, -1));
	FAILS(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 64, bytes, 1, &gate, NULL),
	      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	REJECTED(clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, 64, 1, &gate, NULL, ERR),
		 CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 64, bytes, 0, NULL, NULL));
	OK(clReleaseEvent(gate));
	OK(clReleaseMemObject(m));
	OK(clReleaseCommandQueue(q));
}

static atomic_int in_callback;

static void CL_CALLBACK releases(cl_event e, cl_int status, void *data)
{
	cl_command_queue q = data;
	cl_event another;

	/* Neither the release nor the enqueue may block in a callback. */
	if (clEnqueueMarkerWithWaitList(q, 0, NULL, &another) == CL_SUCCESS)
		clReleaseEvent(another);
	clReleaseEvent(e);
	clReleaseCommandQueue(q);
	in_callback++;
}

static void lifetimes__callbacks_release_their_queue(void)
{
	in_callback = 0;
	for (int i = 0; i < 50; i++) {
		cl_command_queue q = rig_queue(0, 0);
		cl_event e;
		OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &e));
		OK(clFlush(q));
		OK(clSetEventCallback(e, CL_COMPLETE, releases, q));
		CHECK(until(&in_callback, i + 1));
	}
}

#define THREADS 8
#define ROUNDS  40

struct worker {
	pthread_t thread;
	int index, errors;
	cl_kernel kernel;
};

static void one_round(struct worker *w, int round)
{
	cl_uint device = (cl_uint)(w->index + round) % rig.device_count;
	cl_int error = 0, n = w->index + 1, values[64] = {0}, got[64] = {0};
	size_t global = 64;
	cl_event done = NULL;
	cl_command_queue q =
		clCreateCommandQueueWithProperties(rig.context, rig.devices[device], NULL, &error);
	cl_mem m = clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
				  sizeof(values), values, &error);
	w->errors += error != 0 || !q || !m;
	w->errors += clSetKernelArg(w->kernel, 0, sizeof(m), &m) != 0;
	w->errors += clSetKernelArg(w->kernel, 1, sizeof(n), &n) != 0;
	for (int i = 0; i < 4; i++)
		w->errors += clEnqueueNDRangeKernel(q, w->kernel, 1, NULL, &global, NULL, 0, NULL,
						    NULL) != 0;
	w->errors += clEnqueueReadBuffer(q, m, CL_FALSE, 0, sizeof(got), got, 0, NULL, &done) != 0;
	/* while commands that use them run */
	w->errors += clReleaseMemObject(m) != 0;
	w->errors += clReleaseCommandQueue(q) != 0;
	w->errors += clWaitForEvents(1, &done) != 0;
	w->errors += clReleaseEvent(done) != 0;
	for (int i = 0; i < 64; i++)
		w->errors += got[i] != 4 * n;
}

static void *work(void *data)
{
	struct worker *w = data;

	for (int round = 0; round < ROUNDS; round++)
		one_round(w, round);
	return NULL;
}

static void lifetimes__eight_threads_make_and_release(void)
{
	struct worker workers[THREADS] = {0};
	cl_program p = rig_program(source, NULL);

	for (int i = 0; i < THREADS; i++) {
		workers[i].index = i;
		workers[i].kernel = clCreateKernel(p, "add", ERR);
		MADE(workers[i].kernel);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		OK(clReleaseKernel(workers[i].kernel));
	}
	OK(clReleaseProgram(p));
	for (int i = 0; i < THREADS; i++)
		EQUAL(workers[i].errors, 0);
}

/* The child must exit within 20 s. */
static int child_status(pid_t child)
{
	int status = 0;

	CHECK(child > 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A child of a fork exits normally, and the parent continues to work. The child's calls on the
 * parent's devices fail; on PoCL they hang. */
static void lifetimes__children_leave_the_parent_alone(void)
{
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 64, NULL);
	cl_kernel k = rig_kernel(source, "add");
	int words[16] = {0};

	rig_write(rig.queues[0], m, words, sizeof(words));
	SET(k, 0, m);
	SET(k, 1, (cl_int){7});
	rig_run(rig.queues[0], k, 16);
	fflush(NULL);
	for (int uses = 0; uses < (rig.pocl ? 1 : 2); uses++) {
		pid_t child = fork();
		if (child == 0) {
			alarm(20);
			exit(uses && clEnqueueReadBuffer(rig.queues[0], m, CL_TRUE, 0, 64, words, 0,
							 NULL, NULL) == CL_SUCCESS);
		}
		EQUAL(child_status(child), 0);
	}
	rig_run(rig.queues[0], k, 16);
	rig_read(rig.queues[0], m, words, sizeof(words));
	EQUAL(words[15], 14);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(lifetimes__all_is_released_before_the_work),
	 CASE(lifetimes__found_again_in_what_needs_it),
	 CASE(lifetimes__destructors_wait_for_commands),
	 CASE(lifetimes__parts_end_before_the_whole), CASE(lifetimes__user_events_are_set_once),
	 CASE(lifetimes__blocking_behind_a_failure), CASE(lifetimes__callbacks_release_their_queue),
	 CASE(lifetimes__eight_threads_make_and_release),
	 CASE(lifetimes__children_leave_the_parent_alone))
