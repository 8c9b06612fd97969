/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies bytes between two xPUs in an OpenCL program, without the host: first by a transfer that
 * the host enqueues (cl_dxp_transfer), then by a running kernel (cl_dxp_device_network).
 *
 *   dxp up --xpus 2 && dxp run -- build/bin/cl_transfer; dxp down */
#define CL_TARGET_OPENCL_VERSION 120
#include <dxp/cl_ext.h>

#include <stdio.h>
#include <stdlib.h>

#define COUNT 65536u
#define BYTES (COUNT * sizeof(cl_uint))

static const char *const source =
	"#include <dxp/device.h>\n"
	"struct network { ushort node; uchar function, reserved; uint memory_key, qp_magic[4]; };\n"
	"\n"
	"kernel void fill(global uint *out, uint first)\n"
	"{\n"
	"	out[get_global_id(0)] = first + get_global_id(0);\n"
	"}\n"
	"\n"
	"kernel void put(global struct dxp_window *nic, global int *status, struct network own,\n"
	"		struct network peer, ulong from, ulong to, uint bytes)\n"
	"{\n"
	"	struct dxp_target target = {peer.node, peer.function, 0, peer.qp_magic[0]};\n"
	"	struct dxp_descriptor d = dxp_head(DXP_OP_PUT, 0, &target, 1);\n"
	"	struct dxp_entry src = {from, bytes, own.memory_key};\n"
	"	struct dxp_entry dst = {to, bytes, peer.memory_key};\n"
	"	struct dxp_nic_event event;\n"
	"\n"
	"	d.src_count = d.dst_count = 1;\n"
	"	*status = dxp_post_lists(nic, &d, &src, &dst, 0);\n"
	"	if (*status == 0)\n"
	"		*status = dxp_sent_wait(nic, &event, 100000000);\n"
	"	if (*status == 0)\n"
	"		*status = event.status;\n"
	"}\n";

struct side {
	cl_device_id device;
	cl_command_queue queue;
	cl_mem buffer;
	cl_device_network_dxp network;
	cl_ulong address;
};

static cl_platform_id platform;
static cl_context context;
static cl_program program;

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "cl_transfer: %s: OpenCL error %d\n", what, error);
	exit(1);
}

static void *function(const char *name)
{
	void *address = clGetExtensionFunctionAddressForPlatform(platform, name);

	if (!address) {
		fprintf(stderr,
			"cl_transfer: the platform has no %s; run `dxp run -- cl_transfer`\n",
			name);
		exit(1);
	}
	return address;
}

static void side_open(struct side *s)
{
	cl_int error;

	s->queue = clCreateCommandQueue(context, s->device, 0, &error);
	check(error, "make a queue");
	s->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	check(error, "make a buffer");
}

static void program_build(const cl_device_id *devices)
{
	static char log[65536];
	cl_int error;

	program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
	check(error, "make the program");
	error = clBuildProgram(program, 2, devices, "", NULL, NULL);
	if (error != CL_SUCCESS) {
		clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log), log,
				      NULL);
		fprintf(stderr, "%s\n", log);
	}
	check(error, "build the program");
}

static void fill(struct side *s, cl_uint first, cl_event *event)
{
	const size_t global = COUNT;
	cl_int error;
	cl_kernel k = clCreateKernel(program, "fill", &error);

	check(error, "make a kernel");
	check(clSetKernelArg(k, 0, sizeof(cl_mem), &s->buffer), "set an argument");
	check(clSetKernelArg(k, 1, sizeof(first), &first), "set an argument");
	check(clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &global, NULL, 0, NULL, event),
	      "enqueue the kernel");
	clReleaseKernel(k);
}

static void compare(struct side *s, cl_uint first, const char *how)
{
	static cl_uint got[COUNT];

	check(clEnqueueReadBuffer(s->queue, s->buffer, CL_TRUE, 0, BYTES, got, 0, NULL, NULL),
	      "read the received bytes");
	for (cl_uint i = 0; i < COUNT; i++) {
		if (got[i] == first + i)
			continue;
		fprintf(stderr, "cl_transfer: %s: number %u is %u\n", how, i, got[i]);
		exit(1);
	}
	printf("%s: %zu bytes arrived\n", how, BYTES);
}

/* The barrier in the second xPU's queue waits for the transfer; the host does not. */
static void by_the_host(struct side *from, struct side *to)
{
	clEnqueueTransferBufferDXP_fn transfer =
		(clEnqueueTransferBufferDXP_fn)function("clEnqueueTransferBufferDXP");
	cl_event filled, arrived;

	fill(from, 1000, &filled);
	check(transfer(from->queue, from->buffer, to->buffer, to->device, 0, 0, BYTES, 1, &filled,
		       &arrived),
	      "transfer from one xPU to the other");
	check(clEnqueueBarrierWithWaitList(to->queue, 1, &arrived, NULL), "wait for it");
	compare(to, 1000, "by the host");
	clReleaseEvent(filled);
	clReleaseEvent(arrived);
}

static void put_set(cl_kernel k, cl_mem status, const struct side *from, const struct side *to)
{
	clSetKernelArgNetworkDXP_fn set =
		(clSetKernelArgNetworkDXP_fn)function("clSetKernelArgNetworkDXP");
	const cl_uint bytes = BYTES;

	check(set(k, 0), "give the kernel its NIC");
	check(clSetKernelArg(k, 1, sizeof(cl_mem), &status), "set argument 1");
	check(clSetKernelArg(k, 2, sizeof(from->network), &from->network), "set argument 2");
	check(clSetKernelArg(k, 3, sizeof(to->network), &to->network), "set argument 3");
	check(clSetKernelArg(k, 4, sizeof(from->address), &from->address), "set argument 4");
	check(clSetKernelArg(k, 5, sizeof(to->address), &to->address), "set argument 5");
	check(clSetKernelArg(k, 6, sizeof(bytes), &bytes), "set argument 6");
}

static void network_open(struct side *s)
{
	clGetDeviceNetworkDXP_fn network =
		(clGetDeviceNetworkDXP_fn)function("clGetDeviceNetworkDXP");
	clGetMemObjectAddressDXP_fn address =
		(clGetMemObjectAddressDXP_fn)function("clGetMemObjectAddressDXP");

	check(network(context, s->device, &s->network), "query the NIC");
	check(address(s->queue, s->buffer, &s->address, 0, NULL, NULL), "query the address");
	check(clFinish(s->queue), "wait");
}

/* One kernel PUTs the whole buffer while it runs; the other xPU runs none. */
static void by_a_kernel(struct side *from, struct side *to)
{
	cl_int error, result = -1;
	cl_kernel k = clCreateKernel(program, "put", &error);

	check(error, "make a kernel");
	fill(from, 5000, NULL);
	network_open(from);
	network_open(to);
	cl_mem status = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(result), NULL, &error);
	check(error, "make a buffer");
	put_set(k, status, from, to);
	check(clEnqueueTask(from->queue, k, 0, NULL, NULL), "enqueue the kernel");
	check(clEnqueueReadBuffer(from->queue, status, CL_TRUE, 0, sizeof(result), &result, 0, NULL,
				  NULL),
	      "read its status");
	check(result, "the kernel's PUT (a dxp status)");
	compare(to, 5000, "by a kernel");
	clReleaseMemObject(status);
	clReleaseKernel(k);
}

static void platform_find(void)
{
	cl_platform_id all[16];
	cl_uint count = 0;

	check(clGetPlatformIDs(16, all, &count), "find a platform");
	platform = all[0];
	for (cl_uint i = 0; i < count && i < 16; i++)
		if (clGetExtensionFunctionAddressForPlatform(all[i], "clEnqueueTransferBufferDXP"))
			platform = all[i];
	function("clEnqueueTransferBufferDXP");
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("cl_transfer: standard output");
	return 1;
}

int main(void)
{
	cl_device_id devices[2];
	struct side sides[2] = {{0}};
	cl_uint count = 0;
	cl_int error;

	platform_find();
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count), "find devices");
	if (count < 2) {
		fprintf(stderr,
			"cl_transfer: two xPUs are needed; start them with `dxp up --xpus 2`\n");
		return 1;
	}
	context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
	check(error, "make a context");
	program_build(devices);
	for (int i = 0; i < 2; i++) {
		sides[i].device = devices[i];
		side_open(&sides[i]);
	}
	by_the_host(&sides[0], &sides[1]);
	by_a_kernel(&sides[1], &sides[0]);
	for (int i = 0; i < 2; i++) {
		clReleaseMemObject(sides[i].buffer);
		clReleaseCommandQueue(sides[i].queue);
	}
	clReleaseProgram(program);
	clReleaseContext(context);
	return output_lost();
}
