/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for all kinds of memory objects: root object, references, release and queries. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

struct destructor_call {
	cl_mem memory;
	struct memory_callback *list;
};

/* Called without the lock. The object does not exist any more; its handle only identifies it. */
static void call_destructors(void *data)
{
	struct destructor_call *d = data;

	for (struct memory_callback *next, *x = d->list; x; x = next) {
		next = x->next;
		x->call(d->memory, x->data);
		free(x);
	}
	free(d);
}

static void destructors_run(cl_mem m)
{
	struct destructor_call *d = m->callbacks ? malloc(sizeof *d) : NULL;

	if (!d)
		return;
	*d = (struct destructor_call){m, m->callbacks};
	m->callbacks = NULL;
	if (!opencl_call(call_destructors, d))
		free(d);
}

static void copies_end(struct copies *c)
{
	for (struct copy *x = c->host.next; x; x = x->next)
		heap_give(x->device, x->generation, x->address);
	copies_free(c, memory_transfer_drop);
	free(c);
}

static void end(void *handle)
{
	cl_mem m = handle;

	if (m->copies)
		copies_end(m->copies);
	while (m->maps)
		memory_map_free(m, m->maps);
	free(m->shadow);
	free(m->properties);
	destructors_run(m);
	object_drop(m->parent);
	object_drop(m->context);
}

cl_mem memory_new(cl_context context, cl_mem parent, cl_mem_object_type type, cl_mem_flags flags)
{
	cl_mem m = object_new(OBJECT_MEMORY, sizeof *m);

	if (!m)
		return NULL;
	object_end_with(OBJECT_MEMORY, end);
	m->context = context;
	object_hold(context);
	m->parent = parent;
	object_hold(parent);
	m->type = type;
	m->flags = flags;
	if (parent)
		return m;
	m->copies = calloc(1, sizeof *m->copies);
	if (!m->copies) {
		object_release(m);
		return NULL;
	}
	return m;
}

void memory_abandon(cl_mem m)
{
	if (m)
		object_release(m);
}

cl_mem memory_temporary(cl_context context, uint64_t bytes)
{
	cl_mem m = memory_new(context, NULL, CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE);

	if (!m)
		return NULL;
	m->bytes = bytes;
	object_hold(m);
	object_release(m);
	return m;
}

static bool one_at_most(cl_mem_flags flags, cl_mem_flags group)
{
	flags &= group;
	return (flags & (flags - 1)) == 0;
}

bool memory_flags_valid(cl_mem_flags flags)
{
	const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY,
			   host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY |
				  CL_MEM_HOST_NO_ACCESS,
			   pointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR |
				     CL_MEM_COPY_HOST_PTR;

	if (flags & ~(access | host | pointer))
		return false;
	return one_at_most(flags, access) && one_at_most(flags, host) &&
	       (!(flags & CL_MEM_USE_HOST_PTR) ||
		!(flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)));
}

cl_int memory_pointer_check(cl_mem_flags flags, const void *host)
{
	bool wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;

	return wanted == (host != NULL) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_int memory_fill_from(cl_mem root, void *host)
{
	if (!host)
		return CL_SUCCESS;
	if (!copies_reserve(root->copies, 1))
		return CL_OUT_OF_HOST_MEMORY;
	if (root->flags & CL_MEM_USE_HOST_PTR) {
		root->host = host;
	} else {
		uint8_t *shadow = memory_host(root);
		if (!shadow)
			return CL_OUT_OF_HOST_MEMORY;
		memcpy(shadow, host, root->bytes);
	}
	copies_wrote(root->copies, &root->copies->host, 0, root->bytes);
	return CL_SUCCESS;
}

cl_int memory_properties_set(cl_mem m, const cl_mem_properties *properties)
{
	if (!properties)
		return CL_SUCCESS;
	if (properties[0])
		return CL_INVALID_PROPERTY;
	m->properties = calloc(1, sizeof *m->properties);
	if (!m->properties)
		return CL_OUT_OF_HOST_MEMORY;
	m->property_bytes = sizeof *m->properties;
	return CL_SUCCESS;
}

cl_int memory_check(cl_mem m, cl_command_queue queue)
{
	if (!object_is(m, OBJECT_MEMORY))
		return CL_INVALID_MEM_OBJECT;
	return m->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int memory_check_buffer_of(cl_mem m, cl_command_queue queue, cl_device_id d)
{
	cl_int error = memory_check(m, queue);

	if (error != CL_SUCCESS)
		return error;
	if (m->type != CL_MEM_OBJECT_BUFFER)
		return CL_INVALID_MEM_OBJECT;
	cl_uint align = device_uint(d, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
	if (m->parent && align && m->origin % align)
		return CL_MISALIGNED_SUB_BUFFER_OFFSET;
	return CL_SUCCESS;
}

cl_int memory_check_buffer(cl_mem m, cl_command_queue queue)
{
	return memory_check_buffer_of(m, queue, queue->device);
}

cl_int memory_check_image(cl_mem m, cl_command_queue queue)
{
	cl_int error = memory_check(m, queue);

	if (error != CL_SUCCESS)
		return error;
	if (m->type == CL_MEM_OBJECT_BUFFER)
		return CL_INVALID_MEM_OBJECT;
	if (!device_uint(queue->device, CL_DEVICE_IMAGE_SUPPORT, CL_TRUE))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

uint64_t memory_device_most(cl_context c, cl_device_info param)
{
	uint64_t most = 0;

	for (cl_uint i = 0; i < c->device_count; i++) {
		uint64_t v = 0;
		/* The value has 4 or 8 bytes and is little-endian, as all hosts of this plugin are.
		 * So reading it as 64 bits is always correct. */
		if (dxp_clGetDeviceInfo(c->devices[i], param, sizeof v, &v, NULL) == CL_SUCCESS &&
		    v > most)
			most = v;
	}
	return most;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainMemObject(cl_mem m)
{
	opencl_enter();
	bool known = object_is(m, OBJECT_MEMORY);
	if (known)
		object_retain(m);
	opencl_leave();
	return known ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseMemObject(cl_mem m)
{
	opencl_enter();
	bool known = object_is_owned(m, OBJECT_MEMORY);
	if (known)
		object_release(m);
	opencl_leave();
	return known ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetMemObjectDestructorCallback(
	cl_mem m, void(CL_CALLBACK *notify)(cl_mem, void *), void *data)
{
	if (!notify)
		return CL_INVALID_VALUE;
	struct memory_callback *x = malloc(sizeof *x);
	if (!x)
		return CL_OUT_OF_HOST_MEMORY;
	opencl_enter();
	bool known = object_is(m, OBJECT_MEMORY);
	if (known) {
		/* Callbacks are called in reverse order of registration. */
		*x = (struct memory_callback){m->callbacks, notify, data};
		m->callbacks = x;
	}
	opencl_leave();
	if (!known)
		free(x);
	return known ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

/* Host memory that the program gave with CL_MEM_USE_HOST_PTR, at the object's first byte; NULL:
 * none. */
static void *host_pointer(cl_mem m)
{
	uint64_t offset = 0;
	cl_mem root = memory_root(m, &offset);

	return root->host ? (uint8_t *)root->host + offset : NULL;
}

bool memory_blank(cl_mem m)
{
	uint64_t at = 0;
	cl_mem root = memory_root(m, &at);
	struct piece found;

	return copies_next(root->copies, NULL, NULL, at, at + m->bytes, &found) == COPIES_NONE;
}

static cl_int answer(cl_mem m, cl_mem_info param, const struct info *i)
{
	switch (param) {
	case CL_MEM_TYPE: return result_uint(i, m->type);
	case CL_MEM_FLAGS: return result_ulong(i, m->flags);
	case CL_MEM_SIZE: return result_size(i, m->bytes);
	case CL_MEM_HOST_PTR: return result_handle(i, host_pointer(m));
	case CL_MEM_MAP_COUNT: return result_uint(i, m->map_count);
	case CL_MEM_REFERENCE_COUNT: return result_uint(i, m->object.references);
	case CL_MEM_CONTEXT: return result_handle(i, m->context);
	case CL_MEM_ASSOCIATED_MEMOBJECT: return result_handle(i, m->parent);
	case CL_MEM_OFFSET: return result_size(i, m->origin);
	case CL_MEM_USES_SVM_POINTER: return result_uint(i, CL_FALSE);
	case CL_MEM_PROPERTIES: return result_bytes(i, m->properties, m->property_bytes);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetMemObjectInfo(cl_mem m, cl_mem_info param, size_t size,
						       void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};

	opencl_enter();
	cl_int error = object_is(m, OBJECT_MEMORY) ? answer(m, param, &i) : CL_INVALID_MEM_OBJECT;
	opencl_leave();
	return error;
}
