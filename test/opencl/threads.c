/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests several threads in one program: each with its own queue, all with one shared queue, and
 * threads that create and release objects. */
#include "rig.h"

#include <pthread.h>

#define THREADS 4

struct worker {
	pthread_t thread;
	uint32_t index;
	cl_command_queue queue;
	cl_mem shared;
	uint32_t wrong, failed;
};

static const char source[] =
	"kernel void f(global uint *a, uint n) { a[get_global_id(0)] += n; }\n";

static void run_all(struct worker *w, void *(*body)(void *))
{
	for (uint32_t i = 0; i < THREADS; i++) {
		w[i].index = i;
		CHECK(pthread_create(&w[i].thread, NULL, body, &w[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(pthread_join(w[i].thread, NULL) == 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		EQUAL(w[i].failed, 0);
		EQUAL(w[i].wrong, 0);
	}
}

/* Counts a failed call and continues: a failed check can jump out only in the main thread. */
static bool good(struct worker *w, cl_int error)
{
	if (error != CL_SUCCESS)
		printf("thread %u: %s\n", w->index, rig_error_name(error));
	w->failed += error != CL_SUCCESS;
	return error == CL_SUCCESS;
}

static void *on_its_own(void *argument)
{
	struct worker *w = argument;
	const char *text = source;
	uint32_t in[256], out[256];
	size_t global = 256;
	cl_int error;
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);

	if (!good(w, error) || !good(w, clBuildProgram(p, 0, NULL, NULL, NULL, NULL)))
		return NULL;
	for (uint32_t round = 0; round < 50; round++) {
		cl_kernel k = clCreateKernel(p, "f", &error);
		good(w, error);
		for (uint32_t i = 0; i < 256; i++)
			in[i] = w->index * 1000 + i + round;
		cl_mem m =
			clCreateBuffer(rig.context, CL_MEM_COPY_HOST_PTR, sizeof(in), in, &error);
		good(w, error);
		good(w, clSetKernelArg(k, 0, sizeof(m), &m));
		good(w, clSetKernelArg(k, 1, sizeof(round), &round));
		good(w, clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
		good(w,
		     clEnqueueReadBuffer(w->queue, m, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
		for (uint32_t i = 0; i < 256; i++)
			w->wrong += out[i] != in[i] + round;
		good(w, clReleaseKernel(k));
		good(w, clReleaseMemObject(m));
	}
	good(w, clReleaseProgram(p));
	return NULL;
}

static void threads__with_queues_of_their_own(void)
{
	struct worker w[THREADS] = {0};

	for (uint32_t i = 0; i < THREADS; i++)
		w[i].queue = rig_queue(i % rig.device_count, 0);
	run_all(w, on_its_own);
	for (uint32_t i = 0; i < THREADS; i++)
		OK(clReleaseCommandQueue(w[i].queue));
}

static void threads__share_a_queue(void)
{
	struct worker w[THREADS] = {0};

	for (uint32_t i = 0; i < THREADS; i++)
		w[i].queue = rig.queues[0];
	run_all(w, on_its_own);
}

/* All threads use one buffer; each writes and reads back its own words. */
static void *into_one_buffer(void *argument)
{
	struct worker *w = argument;

	for (uint32_t round = 0; round < 100; round++) {
		uint32_t value = w->index * 100000 + round, back = 0;
		size_t at = (round % 64) * THREADS + w->index;
		good(w, clEnqueueWriteBuffer(w->queue, w->shared, CL_TRUE, at * 4, 4, &value, 0,
					     NULL, NULL));
		good(w, clEnqueueReadBuffer(w->queue, w->shared, CL_TRUE, at * 4, 4, &back, 0, NULL,
					    NULL));
		w->wrong += back != value;
	}
	return NULL;
}

static void threads__share_a_buffer(void)
{
	struct worker w[THREADS] = {0};
	uint32_t all[64 * THREADS] = {0};
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, sizeof(all), all);

	for (uint32_t i = 0; i < THREADS; i++) {
		w[i].queue = rig.queues[0];
		w[i].shared = m;
	}
	run_all(w, into_one_buffer);
	rig_read(rig.queues[rig.device_count - 1], m, all, sizeof(all));
	for (uint32_t i = 0; i < 64 * THREADS; i++) {
		uint32_t index = i / THREADS, last = index < 36 ? index + 64 : index;
		EQUAL(all[i], i % THREADS * 100000 + last);
	}
	OK(clReleaseMemObject(m));
}

/* Sets the 50 user events for which the main thread's commands wait. */
static void *set_later(void *argument)
{
	cl_event *list = argument;

	for (int i = 0; i < 50; i++)
		if (clSetUserEventStatus(list[i], CL_COMPLETE) != CL_SUCCESS)
			return list;
	return NULL;
}

static void threads__wait_for_each_other(void)
{
	cl_event list[50], ends[50];
	pthread_t thread;
	void *failed = NULL;
	uint32_t x = 1;
	cl_mem m = rig_buffer(0, 400, NULL);

	for (cl_uint i = 0; i < 50; i++) {
		list[i] = clCreateUserEvent(rig.context, ERR);
		MADE(list[i]);
		OK(clEnqueueFillBuffer(rig.queues[i % rig.device_count], m, &x, 4, i * 4, 4, 1,
				       &list[i], &ends[i]));
	}
	CHECK(pthread_create(&thread, NULL, set_later, list) == 0);
	OK(clWaitForEvents(50, ends));
	CHECK(pthread_join(thread, &failed) == 0 && !failed);
	for (int i = 0; i < 50; i++) {
		OK(clReleaseEvent(list[i]));
		OK(clReleaseEvent(ends[i]));
	}
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(threads__with_queues_of_their_own), CASE(threads__share_a_queue),
	 CASE(threads__share_a_buffer), CASE(threads__wait_for_each_other))
