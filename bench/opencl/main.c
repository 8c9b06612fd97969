/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp-bench-opencl PLATFORM`: answers lines "CASE BYTES COUNT" with "ok P50 P99 MEAN" in us per
 * operation, or "failed WHY", until its input closes. `dxp bench opencl` starts one per driver, to
 * alternate them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/program.h"
#include "bench/opencl/cases.h"

#define PLATFORMS 16

static const char source[] = "kernel void empty(void) {}\n"
			     "kernel void add(global uint *a) { a[get_global_id(0)] += 1; }\n";

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void bench_sample(struct bench *b, uint64_t ns)
{
	if (b->sample_count < SAMPLES_MAX)
		b->samples[b->sample_count++] = ns;
}

int bench_fail(struct bench *b, const char *what, cl_int error)
{
	snprintf(b->why, sizeof(b->why), "%s: %d", what, error);
	return -1;
}

static int platform_find(struct bench *b, const char *name, cl_platform_id *out)
{
	cl_platform_id all[PLATFORMS];
	cl_uint count = 0;
	char text[256];

	TRY(b, "clGetPlatformIDs", clGetPlatformIDs(PLATFORMS, all, &count));
	for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
		clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof(text), text, NULL);
		if (strstr(text, name)) {
			*out = all[i];
			return 0;
		}
	}
	return bench_fail(b, "unknown platform", CL_SUCCESS);
}

static int devices_open(struct bench *b, cl_platform_id platform)
{
	cl_uint count = 0;
	cl_int error;

	TRY(b, "clGetDeviceIDs",
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES, b->devices, &count));
	if (count < DEVICES)
		b->devices[1] = b->devices[0];
	b->context = clCreateContext(NULL, count < DEVICES ? 1 : DEVICES, b->devices, NULL, NULL,
				     &error);
	TRY(b, "clCreateContext", error);
	for (int i = 0; i < DEVICES; i++) {
		b->queues[i] = clCreateCommandQueue(b->context, b->devices[i], 0, &error);
		TRY(b, "clCreateCommandQueue", error);
		b->loose[i] = clCreateCommandQueue(b->context, b->devices[i],
						   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
		TRY(b, "an out-of-order queue", error);
	}
	return 0;
}

static int program_open(struct bench *b)
{
	const char *text = source;
	cl_int error;

	b->program = clCreateProgramWithSource(b->context, 1, &text, NULL, &error);
	TRY(b, "clCreateProgramWithSource", error);
	TRY(b, "clBuildProgram", clBuildProgram(b->program, 0, NULL, "", NULL, NULL));
	b->empty = clCreateKernel(b->program, "empty", &error);
	TRY(b, "clCreateKernel", error);
	for (int i = 0; i < DEVICES; i++) {
		b->add[i] = clCreateKernel(b->program, "add", &error);
		TRY(b, "clCreateKernel", error);
	}
	return 0;
}

static int later(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void answer(struct bench *b, int status)
{
	double sum = 0;

	if (status != 0 || b->sample_count == 0) {
		printf("failed %s\n", b->why[0] ? b->why : "nothing was measured");
		return;
	}
	qsort(b->samples, b->sample_count, sizeof(b->samples[0]), later);
	for (uint32_t i = 0; i < b->sample_count; i++)
		sum += (double)b->samples[i];
	printf("ok %.4f %.4f %.4f\n", (double)b->samples[b->sample_count / 2] * 1e-3,
	       (double)b->samples[b->sample_count * 99ull / 100] * 1e-3,
	       sum / b->sample_count * 1e-3);
}

static const struct bench_case *case_find(const char *name)
{
	const struct bench_case *const lists[] = {bench_cases, bench_memory_cases};

	for (size_t l = 0; l < 2; l++)
		for (const struct bench_case *c = lists[l]; c->name; c++)
			if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

static void serve(struct bench *b)
{
	char name[32];
	size_t bytes;
	uint32_t count;

	while (scanf("%31s %zu %u", name, &bytes, &count) == 3) {
		const struct bench_case *c = case_find(name);
		b->sample_count = 0;
		b->why[0] = '\0';
		answer(b, c ? c->run(b, bytes, count) : bench_fail(b, "no such case", 0));
		if (fflush(stdout) != 0)
			return; /* `dxp bench opencl` has exited */
	}
}

int main(int argc, char **argv)
{
	static struct bench b;
	cl_platform_id platform;

	program_begin("dxp-bench-opencl");
	if (argc != 2) {
		fputs("usage: dxp-bench-opencl PLATFORM; see `dxp bench opencl`\n", stderr);
		return 2;
	}
	if (platform_find(&b, argv[1], &platform) || devices_open(&b, platform) ||
	    program_open(&b)) {
		printf("failed %s\n", b.why);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	serve(&b);
	return ferror(stdout) != 0;
}
