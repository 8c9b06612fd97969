/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs an ordinary OpenCL program under faults, for test/net/opencl_faults.sh, and prints its
 * observations.
 *
 *   once               a typical small program: creates, uses and releases objects
 *   lost SECONDS       uses all devices until the last one fails, then until it works again
 *   stay SECONDS       uses all devices; prints and counts failures, and continues
 *   held SECONDS       counts in a buffer on each device that the host writes only once
 *
 *   crash              runs a kernel with an invalid write, then good kernels
 *
 *   endless            runs a kernel until this program is killed
 *
 *   share SECONDS      counts slow kernels that complete on the first device
 *
 *   wait               as once, then waits for a line of standard input before it exits
 *
 *   appear             a device appears between two calls of clGetDeviceIDs; standard input: when
 *
 *   secret, look       write words to device memory; search newly allocated memory for them */
#include "rig.h"

#include <signal.h>
#include <unistd.h>

#define WORDS  4096
#define SECRET 0x5ec2e75eu

static const char source[] =
	"kernel void twice(global uint *a) { a[get_global_id(0)] *= 2; }\n"
	"kernel void add(global uint *a) { a[get_global_id(0)] += 1; }\n"
	"kernel void crash(global uint *a, ulong at) { *(global uint *)at = a[0]; }\n"
	"kernel void endless(global volatile uint *a) { while (a[0] != 12345) a[1]++; }\n"
	"kernel void slow(global uint *a, uint rounds) {\n"
	" uint x = a[0]; for (uint i = 0; i < rounds; i++) x = x * 1664525 + 1013904223;\n"
	" a[0] = x; }\n";

static cl_platform_id platform;
static cl_device_id devices[RIG_DEVICES_MAX];
static cl_uint device_count;
static cl_context context;
static cl_command_queue queues[RIG_DEVICES_MAX];
static cl_program program;

static void give_up(const char *what, cl_int error)
{
	printf("FAILED: %s: %s\n", what, rig_error_name(error));
	exit(EXIT_FAILURE);
}

static void must(const char *what, cl_int error)
{
	if (error != CL_SUCCESS)
		give_up(what, error);
}

static uint64_t now_ns(void)
{
	return rig_now_ns();
}

static void open_all(void)
{
	const char *text = source;
	cl_int error;

	must("clGetPlatformIDs", clGetPlatformIDs(1, &platform, NULL));
	must("clGetDeviceIDs",
	     clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, RIG_DEVICES_MAX, devices, &device_count));
	context = clCreateContext(NULL, device_count, devices, NULL, NULL, &error);
	must("clCreateContext", error);
	for (cl_uint d = 0; d < device_count; d++) {
		queues[d] = clCreateCommandQueue(context, devices[d], 0, &error);
		must("clCreateCommandQueue", error);
	}
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	must("clCreateProgramWithSource", error);
	must("clBuildProgram", clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
}

static void close_all(void)
{
	for (cl_uint d = 0; d < device_count; d++)
		must("clReleaseCommandQueue", clReleaseCommandQueue(queues[d]));
	must("clReleaseProgram", clReleaseProgram(program));
	must("clReleaseContext", clReleaseContext(context));
}

/* Returns the first error. A wrong result exits the program. */
static cl_int use(cl_uint d)
{
	static uint32_t words[WORDS];
	size_t global = WORDS;
	cl_int error, finish;
	cl_kernel k = clCreateKernel(program, "twice", &error);

	if (error != CL_SUCCESS)
		return error;
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i + d;
	cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(words), words, &error);
	if (error == CL_SUCCESS)
		error = clSetKernelArg(k, 0, sizeof(m), &m);
	if (error == CL_SUCCESS)
		error = clEnqueueNDRangeKernel(queues[d], k, 1, NULL, &global, NULL, 0, NULL, NULL);
	if (error == CL_SUCCESS)
		error = clEnqueueReadBuffer(queues[d], m, CL_TRUE, 0, sizeof(words), words, 0, NULL,
					    NULL);
	finish = clFinish(queues[d]);
	for (uint32_t i = 0; error == CL_SUCCESS && i < WORDS; i++)
		if (words[i] != (i + d) * 2)
			give_up("a wrong answer", CL_SUCCESS);
	if (m)
		clReleaseMemObject(m);
	clReleaseKernel(k);
	return error != CL_SUCCESS ? error : finish;
}

static void once(void)
{
	for (cl_uint d = 0; d < device_count; d++)
		must("a round", use(d));
}

static void wait_input(void)
{
	once();
	printf("ready\n");
	getchar();
}

static void lost(unsigned seconds)
{
	cl_uint last = device_count - 1, rounds = 0;
	uint64_t end = now_ns() + seconds * 1000000000ull;
	cl_int error = CL_SUCCESS;

	printf("ready\n");
	while ((error = use(last)) == CL_SUCCESS && now_ns() < end)
		usleep(1000);
	if (error == CL_SUCCESS)
		give_up("nothing happened", error);
	printf("lost: %s\n", rig_error_name(error));
	for (; now_ns() < end; rounds++) {
		must("the other device", use(0));
		if (use(last) == CL_SUCCESS)
			break;
		usleep(20000);
	}
	must("not back in time", now_ns() < end ? CL_SUCCESS : CL_DEVICE_NOT_AVAILABLE);
	printf("back; the other device went on for %u rounds\n", rounds);
}

static void stay(unsigned seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ull, worst = 0;
	uint32_t rounds = 0, errors = 0;

	printf("ready\n");
	while (now_ns() < end) {
		uint64_t begin = now_ns();
		for (cl_uint d = 0; d < device_count; d++)
			errors += use(d) != CL_SUCCESS;
		worst = now_ns() - begin > worst ? now_ns() - begin : worst;
		rounds++;
		usleep(1000);
	}
	for (cl_uint d = 0; d < device_count; d++)
		must("a round at the end", use(d));
	printf("rounds %u, errors %u, the longest %llu ms\n", rounds, errors,
	       (unsigned long long)(worst / 1000000));
}

#define BATCH 50 /* outstanding kernels */

static void held_round(const cl_mem *m, cl_kernel k)
{
	size_t global = WORDS;

	for (uint32_t i = 0; i < BATCH; i++)
		for (cl_uint d = 0; d < device_count; d++) {
			must("clSetKernelArg", clSetKernelArg(k, 0, sizeof(m[d]), &m[d]));
			must("clEnqueueNDRangeKernel",
			     clEnqueueNDRangeKernel(queues[d], k, 1, NULL, &global, NULL, 0, NULL,
						    NULL));
		}
	for (cl_uint d = 0; d < device_count; d++)
		must("clFinish", clFinish(queues[d]));
}

static void held(unsigned seconds)
{
	static uint32_t words[WORDS];
	uint64_t end = now_ns() + seconds * 1000000000ull;
	cl_mem m[RIG_DEVICES_MAX];
	uint32_t kernels = 0;
	cl_int error;

	cl_kernel k = clCreateKernel(program, "add", &error);
	must("clCreateKernel", error);
	for (cl_uint d = 0; d < device_count; d++) {
		for (uint32_t i = 0; i < WORDS; i++)
			words[i] = i * 7 + d;
		m[d] = clCreateBuffer(context, 0, sizeof(words), NULL, &error);
		must("clCreateBuffer", error);
		must("clEnqueueWriteBuffer",
		     clEnqueueWriteBuffer(queues[d], m[d], CL_TRUE, 0, sizeof(words), words, 0,
					  NULL, NULL));
	}
	for (bool reported = false; now_ns() < end; kernels += BATCH) {
		held_round(m, k);
		if (!reported)
			printf("ready\n");
		reported = true;
	}
	for (cl_uint d = 0; d < device_count; d++) {
		must("clEnqueueReadBuffer",
		     clEnqueueReadBuffer(queues[d], m[d], CL_TRUE, 0, sizeof(words), words, 0, NULL,
					 NULL));
		for (uint32_t i = 0; i < WORDS; i++)
			if (words[i] != i * 7 + d + kernels)
				give_up("a kernel did not run exactly once", CL_SUCCESS);
		clReleaseMemObject(m[d]);
	}
	clReleaseKernel(k);
	printf("held over %u kernels\n", kernels);
}

static void crash(void)
{
	size_t one = 1;
	cl_int error;
	uint32_t word = 7;
	cl_ulong nowhere = 16;
	cl_event event = NULL;
	cl_kernel k = clCreateKernel(program, "crash", &error);

	must("clCreateKernel", error);
	cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &word, &error);
	must("clCreateBuffer", error);
	must("clSetKernelArg", clSetKernelArg(k, 0, sizeof(m), &m));
	must("clSetKernelArg", clSetKernelArg(k, 1, sizeof(nowhere), &nowhere));
	must("clEnqueueNDRangeKernel",
	     clEnqueueNDRangeKernel(queues[0], k, 1, NULL, &one, NULL, 0, NULL, &event));
	error = clWaitForEvents(1, &event);
	if (error == CL_SUCCESS)
		give_up("the kernel that crashes succeeded", error);
	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(error), &error, NULL);
	printf("crashed: %s\n", rig_error_name(error));
	clReleaseEvent(event);
	clReleaseKernel(k);
	clReleaseMemObject(m);
	uint64_t end = now_ns() + 10000000000u;
	while ((error = use(0)) != CL_SUCCESS && now_ns() < end)
		usleep(1000);
	must("the device afterwards", error);
	must("the other device", use(device_count - 1));
	printf("works again\n");
}

static void run_slow(const char *name, unsigned seconds)
{
	size_t one = 1;
	cl_int error;
	uint32_t words[2] = {0, 0}, rounds = 2000000, count = 0;
	cl_kernel k = clCreateKernel(program, name, &error);

	must("clCreateKernel", error);
	cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 8, words, &error);
	must("clCreateBuffer", error);
	must("clSetKernelArg", clSetKernelArg(k, 0, sizeof(m), &m));
	if (seconds)
		must("clSetKernelArg", clSetKernelArg(k, 1, sizeof(rounds), &rounds));
	for (uint64_t end = now_ns() + seconds * 1000000000ull; now_ns() < end || !seconds;) {
		for (int i = 0; i < 4; i++, count++)
			must("clEnqueueNDRangeKernel",
			     clEnqueueNDRangeKernel(queues[0], k, 1, NULL, &one, NULL, 0, NULL,
						    NULL));
		clFlush(queues[0]);
		printf(seconds ? "" : "running\n");
		must("clFinish", clFinish(queues[0]));
	}
	printf("count %u\n", count);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

/* Fills half of the largest buffer with SECRET, or with `look` counts how often it contains
 * SECRET. */
static void memory(bool look)
{
	cl_ulong bytes = 0;
	cl_int error;
	uint32_t word = SECRET, found = 0;

	clGetDeviceInfo(devices[0], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(bytes), &bytes, NULL);
	bytes = bytes / 2 & ~(cl_ulong)4095;
	cl_mem m = clCreateBuffer(context, 0, bytes, NULL, &error);
	must("clCreateBuffer", error);
	if (!look) {
		must("fill", clEnqueueFillBuffer(queues[0], m, &word, 4, 0, bytes, 0, NULL, NULL));
		must("clFinish", clFinish(queues[0]));
		printf("left\n");
	} else {
		uint32_t *there = malloc(bytes);
		must("read",
		     clEnqueueReadBuffer(queues[0], m, CL_TRUE, 0, bytes, there, 0, NULL, NULL));
		for (size_t i = 0; i < bytes / 4; i++)
			found += there[i] == SECRET;
		free(there);
		printf("found %u words of another program\n", found);
	}
	clReleaseMemObject(m);
}

static cl_uint count_devices(cl_device_id *out, cl_uint space)
{
	cl_uint count = 0;

	must("clGetDeviceIDs", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, space, out, &count));
	return count;
}

/* The array of the number that the first call returned must suffice for the second one. */
static void appear(void)
{
	cl_device_id ids[RIG_DEVICES_MAX];
	cl_uint first = count_devices(NULL, 0), second, third;
	const uint64_t end = now_ns() + 120000000000ull;

	printf("ready\n");
	getchar();
	second = count_devices(ids, first);
	if (second != first)
		give_up("an array of the number of devices is too short", CL_SUCCESS);
	while ((third = count_devices(NULL, 0)) <= first && now_ns() < end)
		usleep(1000);
	printf("%u devices, then %u, later %u\n", first, second, third);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned seconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 5;

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_all();
	if (strcmp(what, "once") == 0)
		once();
	else if (strcmp(what, "wait") == 0)
		wait_input();
	else if (strcmp(what, "lost") == 0)
		lost(seconds);
	else if (strcmp(what, "stay") == 0)
		stay(seconds);
	else if (strcmp(what, "held") == 0)
		held(seconds);
	else if (strcmp(what, "crash") == 0)
		crash();
	else if (strcmp(what, "endless") == 0)
		run_slow("endless", 0);
	else if (strcmp(what, "share") == 0)
		run_slow("slow", seconds);
	else if (strcmp(what, "appear") == 0)
		appear();
	else if (strcmp(what, "secret") == 0 || strcmp(what, "look") == 0)
		memory(what[0] == 'l');
	else
		give_up("no such fault", CL_INVALID_VALUE);
	close_all();
	printf("ended well\n");
	return EXIT_SUCCESS;
}
