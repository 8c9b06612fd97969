/* SPDX-License-Identifier: BSD-3-Clause */
/* Enqueues kernels. Each launch is one command to the node, without a round trip. It checks the
 * objects in the arguments, because they may have been released after the argument was set. */
#include <stdio.h>
#include <string.h>

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

/* Sets the index space. If the program gave no global size, the index space is empty. If it gave no
 * offset, it is 0. If it gave no local size, it stays 0. */
static void grid_set(struct dxp_launch *l, const size_t *offset, const size_t *global,
		     const size_t *local)
{
	for (uint32_t i = 0; i < l->dimensions && i < 3; i++) {
		l->offset[i] = offset ? offset[i] : 0;
		l->global[i] = global ? global[i] : 0;
		l->local[i] = local ? local[i] : 0;
	}
}

static bool work_empty(const struct dxp_launch *l)
{
	for (uint32_t i = 0; i < l->dimensions; i++)
		if (l->global[i] == 0)
			return true;
	return false;
}

static void limits_read(struct kernel_device *k)
{
	struct kernel_limits *l = &k->limits;
	cl_device_id d = k->build->device;
	size_t bytes = 0;
	const uint8_t *items = device_about(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, &bytes);

	l->group = k->about->group_size ? k->about->group_size
					: device_size(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
	for (size_t i = 0; i < 3; i++)
		l->items[i] =
			items && bytes >= (i + 1) * 8 ? dxp_about_u64(items + i * 8) : UINT64_MAX;
	uint64_t all = device_size(d, CL_DEVICE_LOCAL_MEM_SIZE, SIZE_MAX);
	l->local_bytes = all > k->about->local_bytes ? all - k->about->local_bytes : 0;
	cl_uint align = device_uint(d, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
	l->align = align ? align : 1;
	l->known = true;
}

static cl_int offset_check(const struct dxp_launch *l)
{
	for (uint32_t i = 0; i < l->dimensions; i++)
		if (l->offset[i] > SIZE_MAX - l->global[i])
			return CL_INVALID_GLOBAL_OFFSET;
	return CL_SUCCESS;
}

/* Checks the given work-group size. Otherwise sets the size that the kernel requires, if any; else
 * it stays 0, and the device chooses. */
static cl_int local_check(struct dxp_launch *l, const struct kernel_device *k, bool given)
{
	const uint64_t *required = k->about->required;
	uint64_t total = 1;

	if (!given && !required[0])
		return CL_SUCCESS;
	for (uint32_t i = 0; i < l->dimensions; i++) {
		uint64_t local = given ? l->local[i] : required[i];
		l->local[i] = local;
		if (local == 0 || (required[0] && local != required[i]))
			return CL_INVALID_WORK_GROUP_SIZE;
		if (local > k->limits.items[i])
			return CL_INVALID_WORK_ITEM_SIZE;
		if (local > k->limits.group / total || l->global[i] % local)
			return CL_INVALID_WORK_GROUP_SIZE;
		total *= local;
	}
	for (uint32_t i = l->dimensions; required[0] && i < 3; i++)
		if (required[i] != 1)
			return CL_INVALID_WORK_GROUP_SIZE;
	return CL_SUCCESS;
}

static cl_int grid_check(struct dxp_launch *l, cl_kernel kernel, const struct kernel_device *k,
			 bool local_given)
{
	if (l->dimensions < 1 || l->dimensions > 3)
		return CL_INVALID_WORK_DIMENSION;
	cl_int error = offset_check(l);
	if (error != CL_SUCCESS || work_empty(l))
		return error;
	error = local_check(l, k, local_given);
	if (error == CL_SUCCESS && kernel->local_bytes > k->limits.local_bytes)
		error = CL_OUT_OF_RESOURCES;
	return error;
}

/* The argument must be set, its handle valid, and a sub-buffer aligned. A network argument needs a
 * NIC function. */
static cl_int argument_check(cl_command_queue queue, const struct kernel_device *k,
			     const struct argument *a, cl_uint i)
{
	if (a->set == ARGUMENT_UNSET)
		return CL_INVALID_KERNEL_ARGS;
	if (a->set == ARGUMENT_NETWORK)
		return network_ready(queue->device);
	switch (k->about->arguments[i].kind) {
	case ARGUMENT_SAMPLER:
		return object_is(a->sampler, OBJECT_SAMPLER) ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
	case ARGUMENT_BUFFER:
	case ARGUMENT_IMAGE:
		if (!a->memory)
			return CL_SUCCESS;
		if (!object_is(a->memory, OBJECT_MEMORY))
			return CL_INVALID_KERNEL_ARGS;
		if (a->memory->parent && a->memory->type == CL_MEM_OBJECT_BUFFER &&
		    a->memory->origin % k->limits.align)
			return CL_MISALIGNED_SUB_BUFFER_OFFSET;
		return CL_SUCCESS;
	default: return CL_SUCCESS;
	}
}

static cl_int check(cl_command_queue queue, cl_kernel kernel, struct dxp_launch *l,
		    bool local_given, struct kernel_device **out)
{
	if (!object_is(queue, OBJECT_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!object_is(kernel, OBJECT_KERNEL))
		return CL_INVALID_KERNEL;
	if (kernel->program->context != queue->context)
		return CL_INVALID_CONTEXT;
	struct kernel_device *k = kernel_device(kernel, queue->device);
	if (!k)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	if (!k->limits.known)
		limits_read(k);
	cl_int error = grid_check(l, kernel, k, local_given);
	for (cl_uint i = 0; error == CL_SUCCESS && i < k->about->argument_count; i++)
		error = argument_check(queue, k, &kernel->arguments[i], i);
	if (error == CL_SUCCESS && k->about->argument_count > DXP_ARGUMENTS_MAX)
		error = CL_OUT_OF_RESOURCES;
	*out = k;
	return error;
}

/* A kernel must not write memory that was created as read-only, but some programs do (hashcat with
 * its candidates). If the object was never written, the kernel is assumed to write it. */
static enum memory_access access_of(const struct argument_about *about, cl_mem m)
{
	if (about->reads_only || ((m->flags & CL_MEM_READ_ONLY) && !memory_blank(m)))
		return MEMORY_READ;
	return MEMORY_READ_WRITE;
}

static cl_int memory_pass(struct enqueue *e, const struct argument_about *about, cl_mem m,
			  struct dxp_argument *to, struct dxp_image *image)
{
	cl_int error;

	to->kind = DXP_ARGUMENT_BUFFER;
	to->address = DXP_NULL_ADDRESS;
	to->bytes = 0;
	if (!m)
		return CL_SUCCESS;
	if (m->bytes <= UINT32_MAX)
		to->bytes = (uint32_t)m->bytes;
	error = memory_ready(e, m, 0, m->bytes, access_of(about, m), &to->address);
	if (about->kind == ARGUMENT_BUFFER)
		return error;
	*image = m->image;
	switch (about->access) {
	case CL_KERNEL_ARG_ACCESS_READ_ONLY: image->access = CL_MEM_READ_ONLY; break;
	case CL_KERNEL_ARG_ACCESS_WRITE_ONLY: image->access = CL_MEM_WRITE_ONLY; break;
	default: image->access = CL_MEM_READ_WRITE; break;
	}
	to->kind = DXP_ARGUMENT_IMAGE;
	to->bytes = sizeof(*image);
	to->data = image;
	return error;
}

static cl_int argument_pass(struct enqueue *e, const struct argument_about *about,
			    const struct argument *a, struct dxp_argument *to,
			    struct dxp_image *image)
{
	to->bytes = a->bytes;
	to->address = 0;
	to->data = NULL;
	if (a->set == ARGUMENT_NETWORK) {
		to->kind = DXP_ARGUMENT_NIC;
		return CL_SUCCESS;
	}
	switch (about->kind) {
	case ARGUMENT_LOCAL: to->kind = DXP_ARGUMENT_LOCAL; return CL_SUCCESS;
	case ARGUMENT_VALUE:
		to->kind = DXP_ARGUMENT_BYTES;
		to->data = argument_value(a);
		return CL_SUCCESS;
	case ARGUMENT_SAMPLER:
		to->kind = DXP_ARGUMENT_SAMPLER;
		to->bytes = sizeof(a->sampler->sampler);
		to->data = &a->sampler->sampler;
		return CL_SUCCESS;
	default: return memory_pass(e, about, a->memory, to, image);
	}
}

static bool names_memory(const struct argument_about *about, const struct argument *a)
{
	return (about->kind == ARGUMENT_BUFFER || about->kind == ARGUMENT_IMAGE) &&
	       a->set == ARGUMENT_SET && a->memory;
}

static void memories_used(struct enqueue *e, cl_kernel k, dxp_event event)
{
	for (cl_uint i = 0; i < k->about->argument_count; i++) {
		const struct argument_about *about = &k->about->arguments[i];
		const struct argument *a = &k->arguments[i];
		if (names_memory(about, a))
			memory_used(e, a->memory, 0, a->memory->bytes, access_of(about, a->memory),
				    event);
	}
}

static cl_int post(struct enqueue *e, struct dxp_launch *l, cl_kernel kernel,
		   const struct kernel_device *k, dxp_event *event)
{
	struct dxp_argument arguments[DXP_ARGUMENTS_MAX];
	struct dxp_image images[DXP_ARGUMENTS_MAX];
	cl_int error = enqueue_hold(e, kernel);

	l->kernel = k->about->name;
	l->arguments = arguments;
	l->argument_count = k->about->argument_count;
	for (cl_uint i = 0; error == CL_SUCCESS && i < l->argument_count; i++)
		error = argument_pass(e, &k->about->arguments[i], &kernel->arguments[i],
				      &arguments[i], &images[i]);
	if (error != CL_SUCCESS)
		return error;
	/* memory_ready may have found that the node is lost. */
	if (!build_alive(k->build))
		return CL_DEVICE_NOT_AVAILABLE;
	l->program = k->build->node;
	uint32_t needless = e->carried ? e->given : 0;
	l->wait = e->waits.events + needless;
	l->wait_count = e->waits.count - needless;
	l->lazy = e->waits.lazy;
	int status = dxp_run(e->device->xpu, l, event);
	/* Each argument is valid, but the command is too long for all of them together. */
	if (status == DXP_EINVAL)
		return CL_OUT_OF_RESOURCES;
	if (status != DXP_OK)
		return device_judge(e->device, status);
	memories_used(e, kernel, *event);
	return CL_SUCCESS;
}

static void label_set(cl_event e, const char *name)
{
	size_t bytes = strnlen(name, sizeof(e->label) - 1);

	memcpy(e->label, name, bytes);
	e->label[bytes] = '\0';
}

/* Checks the launch, and builds the program again if the node was lost. */
static cl_int prepare(cl_command_queue queue, cl_kernel kernel, struct dxp_launch *l,
		      bool local_given, struct kernel_device **k)
{
	opencl_enter();
	cl_int error = check(queue, kernel, l, local_given, k);
	if (error == CL_SUCCESS && !build_alive((*k)->build))
		error = build_ready((*k)->build);
	opencl_leave();
	return error;
}

/* Posts the launch, unless its index space is empty. */
static cl_int finish(struct enqueue *e, struct dxp_launch *l, cl_kernel kernel,
		     const struct kernel_device *k, cl_event *out)
{
	dxp_event event = 0;
	cl_int error = CL_SUCCESS;

	label_set(e->event, k->about->name);
	if (!work_empty(l))
		error = post(e, l, kernel, k, &event);
	return enqueue_end(e, error, event, false, out);
}

CL_API_ENTRY cl_int CL_API_CALL
dxp_clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
			   const size_t *global_work_offset, const size_t *global_work_size,
			   const size_t *local_work_size, cl_uint num_events_in_wait_list,
			   const cl_event *event_wait_list, cl_event *event)
{
	struct dxp_launch l = {.dimensions = work_dim};
	struct kernel_device *k = NULL;
	struct enqueue e;

	grid_set(&l, global_work_offset, global_work_size, local_work_size);
	cl_int error = prepare(command_queue, kernel, &l, local_work_size != NULL, &k);
	if (error == CL_SUCCESS)
		error = enqueue_begin(&e, command_queue, CL_COMMAND_NDRANGE_KERNEL,
				      num_events_in_wait_list, event_wait_list);
	return error == CL_SUCCESS ? finish(&e, &l, kernel, k, event) : error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
						  cl_uint num_events_in_wait_list,
						  const cl_event *event_wait_list, cl_event *event)
{
	struct dxp_launch l = {.dimensions = 1, .global = {1}, .local = {1}};
	struct kernel_device *k = NULL;
	struct enqueue e;

	cl_int error = prepare(command_queue, kernel, &l, true, &k);
	if (error == CL_SUCCESS)
		error = enqueue_begin(&e, command_queue, CL_COMMAND_TASK, num_events_in_wait_list,
				      event_wait_list);
	return error == CL_SUCCESS ? finish(&e, &l, kernel, k, event) : error;
}
