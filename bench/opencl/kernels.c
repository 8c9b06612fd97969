/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures an enqueue, a chain, and steps that alternate between two devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/opencl/cases.h"

static const size_t one = 1;

static int empty_enqueue(struct bench *b, cl_command_queue q, cl_uint waits, const cl_event *wait,
			 cl_event *out)
{
	TRY(b, "clEnqueueNDRangeKernel",
	    clEnqueueNDRangeKernel(q, b->empty, 1, NULL, &one, &one, waits, wait, out));
	return 0;
}

static int case_empty(struct bench *b, size_t bytes, uint32_t count)
{
	(void)bytes;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t begin = bench_now_ns();
		if (empty_enqueue(b, b->queues[0], 0, NULL, NULL))
			return -1;
		TRY(b, "clFinish", clFinish(b->queues[0]));
		bench_sample(b, bench_now_ns() - begin);
	}
	return 0;
}

/* Enqueues `count` kernels at once; measures the calls, or with `to_the_end` until all complete. */
static int enqueue_many(struct bench *b, uint32_t count, bool to_the_end)
{
	uint64_t begin = bench_now_ns();

	for (uint32_t i = 0; i < count; i++)
		if (empty_enqueue(b, b->queues[0], 0, NULL, NULL))
			return -1;
	uint64_t end = bench_now_ns();
	TRY(b, "clFinish", clFinish(b->queues[0]));
	bench_sample(b, ((to_the_end ? bench_now_ns() : end) - begin) / count);
	return 0;
}

static int case_enqueue(struct bench *b, size_t bytes, uint32_t count)
{
	(void)bytes;
	return enqueue_many(b, count, false);
}

static int case_stream(struct bench *b, size_t bytes, uint32_t count)
{
	(void)bytes;
	return enqueue_many(b, count, true);
}

/* Each command waits for the previous one's event. */
static int case_chain(struct bench *b, size_t bytes, uint32_t count)
{
	cl_event before = NULL, event;
	uint64_t begin = bench_now_ns();

	(void)bytes;
	for (uint32_t i = 0; i < count; i++) {
		if (empty_enqueue(b, b->loose[0], before ? 1 : 0, before ? &before : NULL, &event))
			return -1;
		if (before)
			clReleaseEvent(before);
		before = event;
	}
	TRY(b, "clFinish", clFinish(b->loose[0]));
	clReleaseEvent(before);
	bench_sample(b, (bench_now_ns() - begin) / count);
	return 0;
}

static int case_writes(struct bench *b, size_t bytes, uint32_t count)
{
	cl_int error;
	char *data = calloc(count, bytes), *back = calloc(count, bytes);
	cl_mem m = clCreateBuffer(b->context, CL_MEM_READ_WRITE, bytes * count, NULL, &error);
	int status =
		error == CL_SUCCESS && data && back ? 0 : bench_fail(b, "clCreateBuffer", error);

	for (size_t i = 0; status == 0 && i < count * bytes; i++)
		data[i] = (char)(i * 7);
	if (status == 0) /* the driver allocates before the measurement */
		error = clEnqueueWriteBuffer(b->loose[0], m, CL_TRUE, 0, bytes, data, 0, NULL,
					     NULL);
	clFinish(b->loose[0]);
	uint64_t begin = bench_now_ns();
	for (uint32_t i = 0; status == 0 && error == CL_SUCCESS && i < count; i++)
		error = clEnqueueWriteBuffer(b->loose[0], m, CL_FALSE, i * bytes, bytes,
					     data + i * bytes, 0, NULL, NULL);
	if (error == CL_SUCCESS)
		error = clFinish(b->loose[0]);
	bench_sample(b, (bench_now_ns() - begin) / count);
	if (error == CL_SUCCESS)
		error = clEnqueueReadBuffer(b->queues[0], m, CL_TRUE, 0, bytes * count, back, 0,
					    NULL, NULL);
	if (status == 0 && error != CL_SUCCESS)
		status = bench_fail(b, "small writes", error);
	if (status == 0 && memcmp(data, back, bytes * count) != 0)
		status = bench_fail(b, "small writes: the bytes read differ", 0);
	if (m)
		clReleaseMemObject(m);
	free(data);
	free(back);
	return status;
}

static int steps_run(struct bench *b, cl_mem m, size_t words, uint32_t count)
{
	cl_event before = NULL, event;

	for (int i = 0; i < DEVICES; i++)
		TRY(b, "clSetKernelArg", clSetKernelArg(b->add[i], 0, sizeof(m), &m));
	for (uint32_t i = 0; i < count; i++) {
		int to = (int)(i % DEVICES);
		TRY(b, "a step",
		    clEnqueueNDRangeKernel(b->queues[to], b->add[to], 1, NULL, &words, NULL,
					   before ? 1 : 0, before ? &before : NULL, &event));
		clFlush(b->queues[to]);
		if (before)
			clReleaseEvent(before);
		before = event;
	}
	TRY(b, "clWaitForEvents", clWaitForEvents(1, &before));
	clReleaseEvent(before);
	return 0;
}

static int case_step(struct bench *b, size_t bytes, uint32_t count)
{
	cl_int error;
	uint32_t *data = calloc(1, bytes);
	cl_mem m = clCreateBuffer(b->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data,
				  &error);

	if (error != CL_SUCCESS || !data) {
		free(data);
		return bench_fail(b, "clCreateBuffer", error);
	}
	/* moves the buffer to both devices before the measurement */
	int status = steps_run(b, m, bytes / 4, 2);
	uint64_t begin = bench_now_ns();
	if (status == 0)
		status = steps_run(b, m, bytes / 4, count);
	bench_sample(b, (bench_now_ns() - begin) / count);
	clEnqueueReadBuffer(b->queues[0], m, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
	for (size_t i = 0; status == 0 && i < bytes / 4; i++)
		if (data[i] != count + 2)
			status = bench_fail(b, "steps: wrong number of additions to a word",
					    (cl_int)data[i]);
	clReleaseMemObject(m);
	free(data);
	return status;
}

/* ---- building ---- */

static int build_one(struct bench *b, const char *text)
{
	cl_int error;
	uint64_t begin = bench_now_ns();
	cl_program p = clCreateProgramWithSource(b->context, 1, &text, NULL, &error);

	TRY(b, "clCreateProgramWithSource", error);
	error = clBuildProgram(p, 1, &b->devices[0], "", NULL, NULL);
	bench_sample(b, bench_now_ns() - begin);
	clReleaseProgram(p);
	TRY(b, "clBuildProgram", error);
	return 0;
}

static void source_make(char *out, size_t space, uint64_t number)
{
	snprintf(out, space,
		 "kernel void f%llu(global float *a, float b) {\n"
		 "  size_t i = get_global_id(0);\n"
		 "  a[i] = native_sin(a[i]) * b + %llu;\n}\n",
		 (unsigned long long)number, (unsigned long long)number);
}

static int case_build_cold(struct bench *b, size_t bytes, uint32_t count)
{
	char text[512];

	(void)bytes;
	for (uint32_t i = 0; i < count; i++) {
		source_make(text, sizeof(text), bench_now_ns());
		if (build_one(b, text))
			return -1;
	}
	return 0;
}

static int case_build_cached(struct bench *b, size_t bytes, uint32_t count)
{
	char text[512];

	(void)bytes;
	source_make(text, sizeof(text), bench_now_ns());
	if (build_one(b, text))
		return -1;
	b->sample_count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (build_one(b, text))
			return -1;
	return 0;
}

const struct bench_case bench_cases[] = {
	{"empty", case_empty},
	{"enqueue", case_enqueue},
	{"stream", case_stream},
	{"chain", case_chain},
	{"writes", case_writes},
	{"step", case_step},
	{"build-cold", case_build_cold},
	{"build-cached", case_build_cached},
	{NULL, NULL},
};
