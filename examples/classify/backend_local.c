/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the same kernels on one local OpenCL device, without a network. One in-order queue serves
 * all stages, so wait lists need no work. An address is (allocation number, offset). A buffer
 * argument is a sub-buffer that lives until the launch completes. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

/* offset bits; above them the allocation's number, from 1 */
#define ADDRESS_BITS 40
#define BUFFERS_MAX  (4 * STAGES_MAX)
#define KERNELS_MAX  32
#define COMMANDS_MAX 16384 /* outstanding commands */

struct kernel {
	const char *name; /* static string from the steps */
	cl_kernel handle;
};

struct local {
	struct backend base;
	struct opencl cl;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	struct kernel kernels[KERNELS_MAX];
	uint32_t kernel_count;
	cl_mem buffers[BUFFERS_MAX];
	uint64_t buffer_bytes[BUFFERS_MAX];
	uint32_t buffer_count;
	cl_event commands[COMMANDS_MAX]; /* by event number modulo COMMANDS_MAX */
	uint64_t next_event;
};

static int failed(struct fault *fault, const char *what, cl_int error)
{
	int status = error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES ||
				     error == CL_MEM_OBJECT_ALLOCATION_FAILURE
			     ? DXP_ENOMEM
			     : DXP_EDEVICE;

	return fault_set(fault, status, "local OpenCL device: %s failed (%d)", what, error);
}

/* Returns the buffer that holds the whole range, with the range's offset in it, or NULL. */
static cl_mem find_buffer(const struct local *l, uint64_t address, uint64_t bytes, size_t *offset)
{
	uint64_t number = address >> ADDRESS_BITS;
	uint64_t at = address & ((1ull << ADDRESS_BITS) - 1);

	if (number < 1 || number > l->buffer_count || at > l->buffer_bytes[number - 1] ||
	    bytes > l->buffer_bytes[number - 1] - at)
		return NULL;
	*offset = (size_t)at;
	return l->buffers[number - 1];
}

static int outside(struct fault *fault)
{
	return fault_set(fault, DXP_ERANGE, "local OpenCL device: outside of all memory");
}

static int local_alloc(struct backend *b, uint32_t stage, uint64_t bytes, uint64_t *address,
		       struct fault *fault)
{
	struct local *l = (struct local *)b;
	cl_int error;

	if (l->buffer_count == BUFFERS_MAX)
		return fault_set(fault, DXP_ENOMEM, "local OpenCL device: too many allocations");
	cl_mem buffer = l->cl.clCreateBuffer(l->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL,
					     &error);
	if (!buffer)
		return failed(fault, "clCreateBuffer", error);
	l->buffers[l->buffer_count] = buffer;
	l->buffer_bytes[l->buffer_count] = bytes;
	*address = (uint64_t)++l->buffer_count << ADDRESS_BITS;
	return DXP_OK;
}

static int local_write(struct backend *b, uint32_t stage, uint64_t address, const void *from,
		       uint64_t bytes, struct fault *fault)
{
	struct local *l = (struct local *)b;
	size_t offset = 0;
	cl_mem buffer = find_buffer(l, address, bytes, &offset);

	if (!buffer)
		return outside(fault);
	cl_int error = bytes ? l->cl.clEnqueueWriteBuffer(l->queue, buffer, CL_TRUE, offset, bytes,
							  from, 0, NULL, NULL)
			     : CL_SUCCESS;
	return error ? failed(fault, "clEnqueueWriteBuffer", error) : DXP_OK;
}

static int local_read(struct backend *b, uint32_t stage, void *to, uint64_t address, uint64_t bytes,
		      struct fault *fault)
{
	struct local *l = (struct local *)b;
	size_t offset = 0;
	cl_mem buffer = find_buffer(l, address, bytes, &offset);

	if (!buffer)
		return outside(fault);
	cl_int error = bytes ? l->cl.clEnqueueReadBuffer(l->queue, buffer, CL_TRUE, offset, bytes,
							 to, 0, NULL, NULL)
			     : CL_SUCCESS;
	return error ? failed(fault, "clEnqueueReadBuffer", error) : DXP_OK;
}

/* Only the first call builds: all stages share the program. */
static int local_build(struct backend *b, uint32_t stage, const char *source, struct fault *fault)
{
	struct local *l = (struct local *)b;
	char log[700] = "";
	cl_int error;

	if (l->program)
		return DXP_OK;
	l->program = l->cl.clCreateProgramWithSource(l->context, 1, &source, NULL, &error);
	if (!l->program)
		return failed(fault, "clCreateProgramWithSource", error);
	error = l->cl.clBuildProgram(l->program, 1, &l->device, "", NULL, NULL);
	if (error == CL_SUCCESS)
		return DXP_OK;
	l->cl.clGetProgramBuildInfo(l->program, l->device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1,
				    log, NULL);
	return fault_set(fault, DXP_EBUILD, "the kernels do not build on %s (%d): %s",
			 b->devices[0], error, log);
}

static cl_kernel find_kernel(struct local *l, const char *name, cl_int *error)
{
	for (uint32_t i = 0; i < l->kernel_count; i++)
		if (strcmp(l->kernels[i].name, name) == 0)
			return l->kernels[i].handle;
	*error = CL_OUT_OF_RESOURCES;
	if (l->kernel_count == KERNELS_MAX)
		return NULL;
	cl_kernel handle = l->cl.clCreateKernel(l->program, name, error);
	if (handle)
		l->kernels[l->kernel_count++] = (struct kernel){name, handle};
	return handle;
}

/* NULL: too many commands are outstanding. */
static cl_event *reserve_event(struct local *l)
{
	cl_event *entry = &l->commands[l->next_event % COMMANDS_MAX];
	return *entry ? NULL : entry;
}

static cl_int set_buffer(struct local *l, cl_kernel kernel, uint32_t index, uint64_t address)
{
	size_t offset = 0;
	cl_int error = CL_INVALID_VALUE;
	cl_mem buffer = find_buffer(l, address, 1, &offset);

	if (!buffer)
		return error;
	size_t rest = l->buffer_bytes[(address >> ADDRESS_BITS) - 1] - offset;
	cl_buffer_region region = {offset, rest};
	cl_mem part = l->cl.clCreateSubBuffer(buffer, CL_MEM_READ_WRITE,
					      CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	if (!part)
		return error;
	error = l->cl.clSetKernelArg(kernel, index, sizeof(part), &part);
	/* freed by OpenCL when the launch completes */
	l->cl.clReleaseMemObject(part);
	return error;
}

static int local_launch(struct backend *b, uint32_t stage, const struct backend_launch *launch,
			dxp_event *event, struct fault *fault)
{
	static const size_t one[2] = {1, 1};
	struct local *l = (struct local *)b;
	size_t global[2] = {launch->global[0], launch->global[1]};
	cl_int error;
	cl_kernel kernel = find_kernel(l, launch->kernel, &error);
	cl_event *entry = reserve_event(l);

	if (!kernel)
		return failed(fault, launch->kernel, error);
	if (!entry)
		return fault_set(fault, DXP_EAGAIN, "local OpenCL device: too many commands");
	for (uint32_t i = 0; i < launch->argument_count; i++) {
		const struct dxp_argument *a = &launch->arguments[i];
		error = a->kind == DXP_ARGUMENT_BUFFER
				? set_buffer(l, kernel, i, a->address)
				: l->cl.clSetKernelArg(kernel, i, a->bytes, a->value);
		if (error)
			return failed(fault, launch->kernel, error);
	}
	error = l->cl.clEnqueueNDRangeKernel(l->queue, kernel, 2, NULL, global, one, 0, NULL,
					     entry);
	if (error)
		return failed(fault, launch->kernel, error);
	*event = ++l->next_event;
	return DXP_OK;
}

static int local_send(struct backend *b, const struct backend_transfer *t, dxp_event *event,
		      struct fault *fault)
{
	struct local *l = (struct local *)b;
	size_t from_offset = 0, to_offset = 0;
	cl_mem from = find_buffer(l, t->from_address, t->bytes, &from_offset);
	cl_mem to = find_buffer(l, t->to_address, t->bytes, &to_offset);
	cl_event *entry = reserve_event(l);

	if (!from || !to)
		return outside(fault);
	if (!entry)
		return fault_set(fault, DXP_EAGAIN, "local OpenCL device: too many commands");
	cl_int error = l->cl.clEnqueueCopyBuffer(l->queue, from, to, from_offset, to_offset,
						 t->bytes, 0, NULL, entry);
	if (error)
		return failed(fault, "clEnqueueCopyBuffer", error);
	*event = ++l->next_event;
	return DXP_OK;
}

static uint64_t profile(struct local *l, cl_event event, cl_profiling_info which)
{
	cl_ulong ns = 0;
	l->cl.clGetEventProfilingInfo(event, which, sizeof(ns), &ns, NULL);
	return ns;
}

static int local_wait(struct backend *b, dxp_event event, uint64_t timeout_ns,
		      struct dxp_event_times *times, struct fault *fault)
{
	struct local *l = (struct local *)b;
	cl_event *entry = &l->commands[(event - 1) % COMMANDS_MAX];
	cl_int state = CL_COMPLETE;

	if (event == 0 || event > l->next_event || !*entry)
		return fault_set(fault, DXP_ENOENT, "local OpenCL device: no such command");
	cl_int error = l->cl.clWaitForEvents(1, entry);
	l->cl.clGetEventInfo(*entry, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
			     NULL);
	if (times)
		*times = (struct dxp_event_times){profile(l, *entry, CL_PROFILING_COMMAND_QUEUED),
						  profile(l, *entry, CL_PROFILING_COMMAND_START),
						  profile(l, *entry, CL_PROFILING_COMMAND_END)};
	l->cl.clReleaseEvent(*entry);
	*entry = NULL;
	return error || state < 0 ? failed(fault, "a command", state < 0 ? state : error) : DXP_OK;
}

static void local_traffic(struct backend *b, uint32_t stage, struct dxp_link_bytes *out)
{
	*out = (struct dxp_link_bytes){0};
}

static void local_close(struct backend *b)
{
	struct local *l = (struct local *)b;

	if (l->queue)
		l->cl.clFinish(l->queue);
	for (uint32_t i = 0; i < COMMANDS_MAX; i++)
		if (l->commands[i])
			l->cl.clReleaseEvent(l->commands[i]);
	for (uint32_t i = 0; i < l->kernel_count; i++)
		l->cl.clReleaseKernel(l->kernels[i].handle);
	if (l->program)
		l->cl.clReleaseProgram(l->program);
	for (uint32_t i = 0; i < l->buffer_count; i++)
		l->cl.clReleaseMemObject(l->buffers[i]);
	if (l->queue)
		l->cl.clReleaseCommandQueue(l->queue);
	if (l->context)
		l->cl.clReleaseContext(l->context);
	free(l);
}

static const struct backend_ops local_ops = {
	.alloc = local_alloc,
	.write = local_write,
	.read = local_read,
	.build = local_build,
	.launch = local_launch,
	.send = local_send,
	.wait = local_wait,
	.traffic = local_traffic,
	.close = local_close,
};

static int find_device(struct local *l, struct fault *fault)
{
	static const cl_device_type types[] = {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL};
	cl_platform_id platforms[16];
	cl_uint count = 0;

	if (l->cl.clGetPlatformIDs(ARRAY_COUNT(platforms), platforms, &count) != CL_SUCCESS)
		count = 0;
	if (count > ARRAY_COUNT(platforms))
		count = ARRAY_COUNT(platforms);
	for (size_t t = 0; t < ARRAY_COUNT(types); t++)
		for (cl_uint i = 0; i < count; i++)
			if (l->cl.clGetDeviceIDs(platforms[i], types[t], 1, &l->device, NULL) ==
			    CL_SUCCESS)
				return DXP_OK;
	return fault_set(fault, DXP_ENOENT,
			 "no OpenCL device on this machine; install pocl-opencl-icd");
}

static int local_start(struct local *l, struct fault *fault)
{
	cl_int error;
	int status = opencl_load(&l->cl, fault);

	if (status == DXP_OK)
		status = find_device(l, fault);
	if (status != DXP_OK)
		return status;
	l->cl.clGetDeviceInfo(l->device, CL_DEVICE_NAME, sizeof(l->base.devices[0]) - 1,
			      l->base.devices[0], NULL);
	l->context = l->cl.clCreateContext(NULL, 1, &l->device, NULL, NULL, &error);
	if (!l->context)
		return failed(fault, "clCreateContext", error);
	l->queue = l->cl.clCreateCommandQueue(l->context, l->device, CL_QUEUE_PROFILING_ENABLE,
					      &error);
	return l->queue ? DXP_OK : failed(fault, "clCreateCommandQueue", error);
}

int backend_local_open(uint32_t stages, struct backend **out, struct fault *fault)
{
	struct local *l = calloc(1, sizeof(*l));

	if (!l)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	setenv("POCL_DEVICES", "basic", 0);
	l->base.ops = &local_ops;
	l->base.stage_count = stages;
	int status = local_start(l, fault);
	if (status != DXP_OK) {
		local_close(&l->base);
		return status;
	}
	for (uint32_t i = 0; i < stages; i++) {
		snprintf(l->base.names[i], sizeof(l->base.names[i]), "local%u", i);
		memcpy(l->base.devices[i], l->base.devices[0], sizeof(l->base.devices[i]));
	}
	*out = &l->base;
	return DXP_OK;
}
