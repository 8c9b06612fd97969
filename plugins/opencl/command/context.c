/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements contexts: a list of devices, and the program's properties. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"

struct context_options {
	const cl_context_properties *properties;
	void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
	void *notify_data;
};

struct destruction {
	/* only the handle: the context does not exist any more when the callbacks run */
	cl_context context;
	struct context_destructor *list;
};

static void call_destructors(void *data)
{
	struct destruction *d = data;

	while (d->list) {
		struct context_destructor *c = d->list;
		d->list = c->next;
		c->call(d->context, c->data);
		free(c);
	}
	free(d);
}

static void destructors_run(cl_context c)
{
	struct destruction *d = c->destructors ? malloc(sizeof(*d)) : NULL;

	if (!d)
		return;
	*d = (struct destruction){.context = c, .list = c->destructors};
	if (!opencl_call(call_destructors, d))
		free(d);
}

static void end(void *handle)
{
	cl_context c = handle;

	destructors_run(c);
	free(c->devices);
	free(c->properties);
}

bool context_has(cl_context c, cl_device_id d)
{
	for (cl_uint i = 0; i < c->device_count; i++)
		if (c->devices[i] == d)
			return true;
	return false;
}

struct notification {
	cl_context context;
	char text[512];
};

static void call_notify(void *data)
{
	struct notification *n = data;

	n->context->notify(n->text, NULL, 0, n->context->notify_data);
	opencl_enter();
	object_drop(n->context);
	opencl_leave();
	free(n);
}

void context_notify(cl_context c, const char *text)
{
	struct notification *n = c->notify ? malloc(sizeof(*n)) : NULL;

	if (!n)
		return;
	n->context = c;
	snprintf(n->text, sizeof(n->text), "%s", text);
	if (!opencl_call(call_notify, n)) {
		free(n);
		return;
	}
	object_hold(c);
}

static cl_int property_check(const cl_context_properties *p)
{
	switch (p[0]) {
	case CL_CONTEXT_PLATFORM:
		return (cl_platform_id)p[1] == platform_get() ? CL_SUCCESS : CL_INVALID_PLATFORM;
	case CL_CONTEXT_INTEROP_USER_SYNC:
		return p[1] == CL_TRUE || p[1] == CL_FALSE ? CL_SUCCESS : CL_INVALID_PROPERTY;
	default: return CL_INVALID_PROPERTY;
	}
}

/* Each name may occur only once. */
static cl_int properties_check(const cl_context_properties *list, size_t *bytes)
{
	size_t count = 0;

	for (; list && list[count]; count += 2) {
		cl_int error = property_check(list + count);
		if (error != CL_SUCCESS)
			return error;
		for (size_t i = 0; i < count; i += 2)
			if (list[i] == list[count])
				return CL_INVALID_PROPERTY;
	}
	*bytes = list ? (count + 1) * sizeof(*list) : 0;
	return CL_SUCCESS;
}

static bool fill(cl_context c, const cl_device_id *devices, cl_uint count,
		 const struct context_options *o)
{
	c->devices = calloc(count, sizeof(cl_device_id));
	c->properties = c->property_bytes ? malloc(c->property_bytes) : NULL;
	if (!c->devices || (c->property_bytes && !c->properties))
		return false;
	for (cl_uint i = 0; i < count; i++)
		if (!context_has(c, devices[i]))
			c->devices[c->device_count++] = devices[i];
	if (c->property_bytes)
		memcpy(c->properties, o->properties, c->property_bytes);
	return true;
}

static cl_int create(const cl_device_id *devices, cl_uint count, const struct context_options *o,
		     cl_context *out)
{
	size_t property_bytes = 0;
	cl_int error = properties_check(o->properties, &property_bytes);

	if (error != CL_SUCCESS)
		return error;
	if (!devices || !count || (!o->notify && o->notify_data))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++) {
		if (!object_is(devices[i], OBJECT_DEVICE))
			return CL_INVALID_DEVICE;
		if (!device_available(devices[i]))
			return CL_DEVICE_NOT_AVAILABLE;
	}
	cl_context c = object_new(OBJECT_CONTEXT, sizeof(*c));
	if (!c)
		return CL_OUT_OF_HOST_MEMORY;
	object_end_with(OBJECT_CONTEXT, end);
	c->property_bytes = property_bytes;
	c->notify = o->notify;
	c->notify_data = o->notify_data;
	if (!fill(c, devices, count, o)) {
		object_release(c);
		return CL_OUT_OF_HOST_MEMORY;
	}
	*out = c;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_context CL_API_CALL dxp_clCreateContext(
	const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
	void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
	cl_int *errcode)
{
	const struct context_options o = {properties, notify, data};
	cl_context c = NULL;

	opencl_enter();
	cl_int error = create(devices, count, &o, &c);
	opencl_leave();
	if (errcode)
		*errcode = error;
	return c;
}

static cl_int create_of_type(cl_device_type type, const struct context_options *o, cl_context *out)
{
	cl_device_id chosen[OPENCL_DEVICES_MAX];
	cl_uint count = 0;
	size_t bytes = 0;
	cl_int error = properties_check(o->properties, &bytes);

	if (error == CL_SUCCESS && !o->notify && o->notify_data)
		error = CL_INVALID_VALUE;
	if (error == CL_SUCCESS)
		error = devices_of_type(type, chosen, OPENCL_DEVICES_MAX, &count);
	return error == CL_SUCCESS ? create(chosen, count, o, out) : error;
}

CL_API_ENTRY cl_context CL_API_CALL
dxp_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
			    void *data, cl_int *errcode)
{
	const struct context_options o = {properties, notify, data};
	cl_context c = NULL;

	opencl_enter();
	cl_int error = create_of_type(type, &o, &c);
	opencl_leave();
	if (errcode)
		*errcode = error;
	return c;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainContext(cl_context context)
{
	opencl_enter();
	bool valid = object_is(context, OBJECT_CONTEXT);
	if (valid)
		object_retain(context);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseContext(cl_context context)
{
	opencl_enter();
	bool valid = object_is_owned(context, OBJECT_CONTEXT);
	if (valid)
		object_release(context);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

static cl_int get_info(cl_context c, cl_context_info name, const struct info *i)
{
	switch (name) {
	case CL_CONTEXT_REFERENCE_COUNT: return result_uint(i, c->object.references);
	case CL_CONTEXT_NUM_DEVICES: return result_uint(i, c->device_count);
	case CL_CONTEXT_DEVICES:
		return result_bytes(i, c->devices, c->device_count * sizeof(cl_device_id));
	case CL_CONTEXT_PROPERTIES: return result_bytes(i, c->properties, c->property_bytes);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetContextInfo(cl_context context, cl_context_info name,
						     size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_CONTEXT;

	opencl_enter();
	if (object_is(context, OBJECT_CONTEXT))
		error = get_info(context, name, &i);
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetContextDestructorCallback(
	cl_context context, void(CL_CALLBACK *call)(cl_context, void *), void *data)
{
	struct context_destructor *c = malloc(sizeof(*c));
	cl_int error = CL_INVALID_CONTEXT;

	opencl_enter();
	if (object_is(context, OBJECT_CONTEXT))
		error = !call ? CL_INVALID_VALUE : c ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	if (error == CL_SUCCESS) {
		*c = (struct context_destructor){context->destructors, call, data};
		context->destructors = c;
	}
	opencl_leave();
	if (error != CL_SUCCESS)
		free(c);
	return error;
}
