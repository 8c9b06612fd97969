/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel objects: a function of a program, with its arguments. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

static void kernel_end(void *handle)
{
	cl_kernel k = handle;

	for (cl_uint i = 0; k->arguments && i < k->about->argument_count; i++)
		argument_clear(k, i);
	for (cl_uint i = 0; k->devices && i < k->program->device_count; i++)
		build_put(k->devices[i].build);
	free(k->arguments);
	free(k->devices);
	k->program->kernels--;
	object_drop(k->program);
}

struct kernel_device *kernel_device(cl_kernel k, cl_device_id d)
{
	for (cl_uint i = 0; i < k->program->device_count; i++)
		if (k->program->entries[i].device == d)
			return k->devices[i].build ? &k->devices[i] : NULL;
	return NULL;
}

struct kernel_device *kernel_device_of(cl_kernel k, cl_device_id d)
{
	if (!d)
		return k->program->device_count == 1 && k->devices[0].build ? &k->devices[0] : NULL;
	return object_is(d, OBJECT_DEVICE) ? kernel_device(k, d) : NULL;
}

/* Searches the entries that are built. CL_INVALID_KERNEL_DEFINITION: the kernel's arguments differ
 * between devices. */
static cl_int definition_check(cl_program p, const char *name, const struct kernel_about **out)
{
	*out = NULL;
	for (cl_uint i = 0; i < p->device_count; i++) {
		struct program_entry *s = &p->entries[i];
		if (s->status != CL_BUILD_SUCCESS || s->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
			continue;
		const struct kernel_about *k = metadata_kernel(&s->build->about, name);
		if (!k)
			continue;
		if (*out && !metadata_alike(*out, k))
			return CL_INVALID_KERNEL_DEFINITION;
		if (!*out)
			*out = k;
	}
	return *out ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
}

static void devices_fill(cl_kernel k)
{
	cl_program p = k->program;

	for (cl_uint i = 0; i < p->device_count; i++) {
		struct program_entry *s = &p->entries[i];
		if (s->status != CL_BUILD_SUCCESS)
			continue;
		const struct kernel_about *about =
			metadata_kernel(&s->build->about, k->about->name);
		if (!about)
			continue;
		build_hold(s->build);
		k->devices[i] = (struct kernel_device){.build = s->build, .about = about};
	}
}

static cl_int kernel_new(cl_program p, const struct kernel_about *about, cl_kernel *out)
{
	object_end_with(OBJECT_KERNEL, kernel_end);
	cl_kernel k = object_new(OBJECT_KERNEL, sizeof(*k));

	if (!k)
		return CL_OUT_OF_HOST_MEMORY;
	k->program = p;
	k->about = about;
	object_hold(p);
	p->kernels++;
	k->devices = calloc(p->device_count, sizeof(*k->devices));
	k->arguments = calloc((size_t)about->argument_count + 1, sizeof(*k->arguments));
	if (!k->devices || !k->arguments) {
		object_release(k);
		return CL_OUT_OF_HOST_MEMORY;
	}
	devices_fill(k);
	*out = k;
	return CL_SUCCESS;
}

static cl_int kernel_create(cl_program p, const char *name, cl_kernel *out)
{
	const struct kernel_about *about;

	if (!program_executable(p))
		return CL_INVALID_PROGRAM_EXECUTABLE;
	if (!name)
		return CL_INVALID_VALUE;
	cl_int error = definition_check(p, name, &about);
	return error == CL_SUCCESS ? kernel_new(p, about, out) : error;
}

/* Locks, holds the program and waits for its builds. False: `p` is not a program; the lock is held
 * here too. */
static bool program_enter(cl_program p)
{
	opencl_enter();
	if (!object_is(p, OBJECT_PROGRAM))
		return false;
	object_hold(p);
	program_wait(p);
	return true;
}

static void program_leave(cl_program p)
{
	object_drop(p);
	opencl_leave();
}

CL_API_ENTRY cl_kernel CL_API_CALL dxp_clCreateKernel(cl_program program, const char *name,
						      cl_int *errcode_ret)
{
	cl_kernel k = NULL;
	bool held = program_enter(program);
	cl_int error = held ? kernel_create(program, name, &k) : CL_INVALID_PROGRAM;

	program_leave(held ? program : NULL);
	if (errcode_ret)
		*errcode_ret = error;
	return k;
}

/* Omits kernels with different arguments on different devices, as the standard requires. */
static cl_int kernels_create(cl_program p, cl_uint space, cl_kernel *out, cl_uint *count)
{
	const struct program_about *a = &program_executable(p)->build->about;
	const struct kernel_about *about;
	cl_uint have = 0;

	for (uint32_t i = 0; i < a->kernel_count; i++)
		have += definition_check(p, a->kernels[i].name, &about) == CL_SUCCESS;
	if (out && space < have)
		return CL_INVALID_VALUE;
	*count = 0;
	for (uint32_t i = 0; out && i < a->kernel_count; i++) {
		if (definition_check(p, a->kernels[i].name, &about) != CL_SUCCESS)
			continue;
		cl_int error = kernel_new(p, about, &out[*count]);
		while (error != CL_SUCCESS && *count > 0)
			object_release(out[--*count]);
		if (error != CL_SUCCESS)
			return error;
		++*count;
	}
	*count = have;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clCreateKernelsInProgram(cl_program program,
							     cl_uint num_kernels,
							     cl_kernel *kernels,
							     cl_uint *num_kernels_ret)
{
	cl_int error = CL_INVALID_PROGRAM;
	cl_uint count = 0;
	bool held = program_enter(program);

	if (held)
		error = program_executable(program)
				? kernels_create(program, num_kernels, kernels, &count)
				: CL_INVALID_PROGRAM_EXECUTABLE;
	program_leave(held ? program : NULL);
	if (error == CL_SUCCESS && num_kernels_ret)
		*num_kernels_ret = count;
	return error;
}

static cl_int kernel_clone(cl_kernel from, cl_kernel *out)
{
	cl_kernel k = NULL;

	if (!object_is(from, OBJECT_KERNEL))
		return CL_INVALID_KERNEL;
	cl_int error = kernel_new(from->program, from->about, &k);
	if (error == CL_SUCCESS)
		k->local_bytes = from->local_bytes;
	for (cl_uint i = 0; error == CL_SUCCESS && i < from->about->argument_count; i++)
		error = argument_copy(&k->arguments[i], &from->arguments[i],
				      from->about->arguments[i].kind);
	if (error == CL_SUCCESS)
		*out = k;
	else if (k)
		object_release(k);
	return error;
}

CL_API_ENTRY cl_kernel CL_API_CALL dxp_clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret)
{
	cl_kernel k = NULL;

	opencl_enter();
	cl_int error = kernel_clone(source_kernel, &k);
	opencl_leave();
	if (errcode_ret)
		*errcode_ret = error;
	return k;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainKernel(cl_kernel kernel)
{
	opencl_enter();
	bool good = object_is(kernel, OBJECT_KERNEL);
	if (good)
		object_retain(kernel);
	opencl_leave();
	return good ? CL_SUCCESS : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseKernel(cl_kernel kernel)
{
	opencl_enter();
	bool good = object_is(kernel, OBJECT_KERNEL);
	if (good)
		object_release(kernel);
	opencl_leave();
	return good ? CL_SUCCESS : CL_INVALID_KERNEL;
}
