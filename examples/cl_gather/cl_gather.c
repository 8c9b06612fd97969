/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a table on all xPUs (cl_dxp_collective): a broadcast gives each the factor, its kernel
 * computes one part of the table, and an all-gather in place gives each the whole table.
 *
 *   dxp up --xpus 4 && dxp run -- build/bin/cl_gather; dxp down */
#define CL_TARGET_OPENCL_VERSION 120
#include <dxp/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>

#define XPUS_MAX   16
#define FIND(name) ((name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name))

static void check(int failed, const char *what)
{
	if (failed && fprintf(stderr, "cl_gather: cannot %s; run `dxp run -- cl_gather`\n", what))
		exit(1);
}

int main(void)
{
	const char *source = "kernel void compute(global uint *table, global const uint *factor)"
			     "{ table[get_global_id(0)] = get_global_id(0) * factor[0]; }";
	const size_t part = 100003; /* numbers that each xPU computes */
	cl_platform_id platform;
	cl_device_id devices[XPUS_MAX];
	cl_mem tables[XPUS_MAX], factors[XPUS_MAX];
	cl_event sent, computed[XPUS_MAX];
	cl_command_queue q[XPUS_MAX];
	cl_uint n, factor = 3, last = 0;

	check(clGetPlatformIDs(1, &platform, NULL), "find a platform");
	check(!FIND(clEnqueueBroadcastDXP) || !FIND(clEnqueueAllGatherDXP), "find the extension");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, XPUS_MAX, devices, &n), "find xPUs");
	n = n < XPUS_MAX ? n : XPUS_MAX;
	cl_context context = clCreateContext(NULL, n, devices, NULL, NULL, NULL);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "build the kernel");
	for (cl_uint i = 0; i < n; i++, factor = 0) { /* only the first xPU has the factor */
		q[i] = clCreateCommandQueue(context, devices[i], 0, NULL);
		tables[i] = clCreateBuffer(context, 0, n * part * 4, NULL, NULL);
		factors[i] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &factor, NULL);
	}
	cl_int error = FIND(clEnqueueBroadcastDXP)(q[0], n, devices, factors[0], factors, 0, 0, 1,
						   CL_TYPE_UINT32_DXP, 0, 0, NULL, &sent);
	for (size_t i = 0, first = 0; i < n && !error; i++, first += part) {
		cl_kernel kernel = clCreateKernel(program, "compute", NULL);
		clSetKernelArg(kernel, 0, sizeof(cl_mem), &tables[i]);
		clSetKernelArg(kernel, 1, sizeof(cl_mem), &factors[i]);
		error = clEnqueueNDRangeKernel(q[i], kernel, 1, &first, &part, NULL, 1, &sent,
					       &computed[i]);
	}
	check(error || FIND(clEnqueueAllGatherDXP)(q[0], n, devices, NULL, tables, 0, 0, part,
						   CL_TYPE_UINT32_DXP, n, computed, NULL),
	      "enqueue the commands");
	check(clEnqueueReadBuffer(q[0], tables[0], CL_TRUE, (n * part - 1) * 4, 4, &last, 0, NULL,
				  NULL),
	      "read");
	return printf("%u xPUs: the last of %zu numbers is %u\n", n, n * part, last) < 0;
}
