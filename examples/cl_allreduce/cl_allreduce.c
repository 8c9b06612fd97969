/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds vectors of all xPUs in an OpenCL program (cl_dxp_collective): kernels make vectors, an
 * allreduce adds them, kernels check the sum. The host enqueues all at once; vectors never pass
 * through it.
 *
 *   dxp up --xpus 4 && dxp run -- build/bin/cl_allreduce; dxp down */
#define CL_TARGET_OPENCL_VERSION 120
#include <dxp/cl_ext.h>

#include <stdio.h>
#include <stdlib.h>

#define COUNT    1000003u
#define XPUS_MAX 16

static const char *const source =
	"kernel void make(global float *v, uint xpu)\n"
	"{\n"
	"	v[get_global_id(0)] = xpu + get_global_id(0) % 1000;\n"
	"}\n"
	"\n"
	"kernel void check(global const float *v, global uint *wrong, uint xpus)\n"
	"{\n"
	"	const uint i = get_global_id(0);\n"
	"\n"
	"	if (v[i] != xpus * (xpus - 1) / 2 + i % 1000 * xpus)\n"
	"		atomic_inc(wrong);\n"
	"}\n";

static cl_platform_id platform;
static cl_device_id devices[XPUS_MAX];
static cl_command_queue queues[XPUS_MAX];
static cl_mem vectors[XPUS_MAX], wrong[XPUS_MAX];
static cl_uint xpus;
static cl_context context;
static cl_program program;

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "cl_allreduce: %s: OpenCL error %d\n", what, error);
	exit(1);
}

static clEnqueueAllreduceDXP_fn allreduce_find(void)
{
	cl_platform_id all[16];
	cl_uint count = 0;
	void *found = NULL;

	check(clGetPlatformIDs(16, all, &count), "find a platform");
	for (cl_uint i = 0; i < count && i < 16 && !found; i++) {
		platform = all[i];
		found = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueAllreduceDXP");
	}
	if (!found) {
		fprintf(stderr, "cl_allreduce: no platform has clEnqueueAllreduceDXP; "
				"run `dxp run -- cl_allreduce`\n");
		exit(1);
	}
	return (clEnqueueAllreduceDXP_fn)found;
}

static void devices_open(void)
{
	cl_int error;

	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, XPUS_MAX, devices, &xpus),
	      "find devices");
	xpus = xpus < XPUS_MAX ? xpus : XPUS_MAX;
	context = clCreateContext(NULL, xpus, devices, NULL, NULL, &error);
	check(error, "make a context");
	program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
	check(error, "make the program");
	check(clBuildProgram(program, xpus, devices, "", NULL, NULL), "build the program");
	for (cl_uint i = 0; i < xpus; i++) {
		cl_uint zero = 0;
		queues[i] = clCreateCommandQueue(context, devices[i], 0, &error);
		check(error, "make a queue");
		vectors[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, COUNT * sizeof(cl_float),
					    NULL, &error);
		check(error, "make a buffer");
		wrong[i] =
			clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero, &error);
		check(error, "make a counter");
	}
}

static void kernel_enqueue(cl_uint xpu, const char *name, cl_uint number, const cl_event *after,
			   cl_event *event)
{
	const size_t global = COUNT;
	cl_int error;
	cl_kernel k = clCreateKernel(program, name, &error);

	check(error, "make a kernel");
	check(clSetKernelArg(k, 0, sizeof(cl_mem), &vectors[xpu]), "set argument 0");
	if (after)
		check(clSetKernelArg(k, 1, sizeof(cl_mem), &wrong[xpu]), "set argument 1");
	check(clSetKernelArg(k, after ? 2 : 1, sizeof(number), &number), "set the number");
	check(clEnqueueNDRangeKernel(queues[xpu], k, 1, NULL, &global, NULL, after ? 1 : 0, after,
				     event),
	      "enqueue a kernel");
	clReleaseKernel(k);
}

static cl_uint wrong_read(cl_uint xpu)
{
	cl_uint count = 1;

	check(clEnqueueReadBuffer(queues[xpu], wrong[xpu], CL_TRUE, 0, sizeof(count), &count, 0,
				  NULL, NULL),
	      "read the counter");
	return count;
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("cl_allreduce: standard output");
	return 1;
}

int main(void)
{
	const clEnqueueAllreduceDXP_fn allreduce = allreduce_find();
	cl_event made[XPUS_MAX], summed;
	cl_uint bad = 0;

	devices_open();
	for (cl_uint i = 0; i < xpus; i++)
		kernel_enqueue(i, "make", i, NULL, &made[i]);
	check(allreduce(queues[0], xpus, devices, vectors, vectors, 0, 0, COUNT, CL_TYPE_FLOAT_DXP,
			CL_REDUCTION_SUM_DXP, xpus, made, &summed),
	      "enqueue the allreduce");
	for (cl_uint i = 0; i < xpus; i++)
		kernel_enqueue(i, "check", xpus, &summed, NULL);
	for (cl_uint i = 0; i < xpus; i++)
		bad += wrong_read(i);
	printf("%u xPUs, %u numbers: %u are wrong\n", xpus, COUNT, bad);
	clReleaseEvent(summed);
	for (cl_uint i = 0; i < xpus; i++) {
		clReleaseEvent(made[i]);
		clReleaseMemObject(vectors[i]);
		clReleaseMemObject(wrong[i]);
		clReleaseCommandQueue(queues[i]);
	}
	clReleaseProgram(program);
	clReleaseContext(context);
	return output_lost() || bad != 0;
}
