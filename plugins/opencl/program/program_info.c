/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements queries of programs. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/binary.h"
#include "plugins/opencl/program/program.h"

/* Binary of an entry, as binary_write() needs it. `built` is false if there is none. */
struct binary_out {
	struct binary binary;
	char sentence[DEVICE_SENTENCE_BYTES];
	bool built;
};

static cl_int binary_of(struct program_entry *s, struct binary_out *out)
{
	out->built = s->build && s->status == CL_BUILD_SUCCESS;
	if (!out->built)
		return CL_SUCCESS;
	cl_int error = build_binary(s->build);
	if (error != CL_SUCCESS)
		return error;
	out->binary = (struct binary){
		.type = s->type,
		.device = out->sentence,
		.device_bytes = device_sentence(s->device, out->sentence),
		.data = s->build->binary,
		.bytes = s->build->binary_bytes,
	};
	out->built = out->binary.bytes > 0;
	return CL_SUCCESS;
}

static cl_int entry_size(struct program_entry *s, size_t *bytes)
{
	struct binary_out out;
	cl_int error = CL_SUCCESS;

	/* A program that was created from a binary returns it unchanged. */
	if (s->given) {
		*bytes = s->given_bytes;
		return CL_SUCCESS;
	}
	error = binary_of(s, &out);
	*bytes = out.built ? binary_size(&out.binary) : 0;
	return error;
}

static cl_int entry_write(struct program_entry *s, unsigned char *to)
{
	struct binary_out out;

	if (!to)
		return CL_SUCCESS;
	if (s->given) {
		memcpy(to, s->given, s->given_bytes);
		return CL_SUCCESS;
	}
	cl_int error = binary_of(s, &out);
	if (error == CL_SUCCESS && out.built)
		binary_write(&out.binary, to);
	return error;
}

static cl_int get_sizes(cl_program p, const struct info *i)
{
	size_t bytes = p->device_count * sizeof(size_t);
	size_t *sizes = calloc(p->device_count, sizeof(size_t));
	cl_int error = sizes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

	for (cl_uint n = 0; error == CL_SUCCESS && i->value && n < p->device_count; n++)
		error = entry_size(&p->entries[n], &sizes[n]);
	if (error == CL_SUCCESS)
		error = result_bytes(i, sizes, bytes);
	free(sizes);
	return error;
}

static cl_int get_binaries(cl_program p, const struct info *i)
{
	size_t bytes = p->device_count * sizeof(unsigned char *);
	unsigned char **to = i->value;
	cl_int error = CL_SUCCESS;

	if (to && i->size < bytes)
		return CL_INVALID_VALUE;
	for (cl_uint n = 0; to && error == CL_SUCCESS && n < p->device_count; n++)
		error = entry_write(&p->entries[n], to[n]);
	if (error == CL_SUCCESS && i->size_ret)
		*i->size_ret = bytes;
	return error;
}

static cl_int get_devices(cl_program p, const struct info *i)
{
	size_t bytes = p->device_count * sizeof(cl_device_id);
	cl_device_id *devices = calloc(p->device_count, sizeof(cl_device_id));

	if (!devices)
		return CL_OUT_OF_HOST_MEMORY;
	for (cl_uint n = 0; n < p->device_count; n++)
		devices[n] = p->entries[n].device;
	cl_int error = result_bytes(i, devices, bytes);
	free(devices);
	return error;
}

static cl_int get_names(const struct program_about *a, const struct info *i)
{
	size_t bytes = 1;
	char *text, *at;

	for (uint32_t n = 0; n < a->kernel_count; n++)
		bytes += strlen(a->kernels[n].name) + 1;
	text = at = calloc(1, bytes);
	if (!text)
		return CL_OUT_OF_HOST_MEMORY;
	for (uint32_t n = 0; n < a->kernel_count; n++) {
		size_t length = strlen(a->kernels[n].name);
		if (n > 0)
			*at++ = ';';
		memcpy(at, a->kernels[n].name, length);
		at += length;
	}
	cl_int error = result_text(i, text);
	free(text);
	return error;
}

static cl_int get_kernels(cl_program p, cl_program_info name, const struct info *i)
{
	struct program_entry *s = program_executable(p);

	if (!s)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	if (name == CL_PROGRAM_NUM_KERNELS)
		return result_size(i, s->build->about.kernel_count);
	return get_names(&s->build->about, i);
}

/* The answer depends on builds that may be running. */
static bool waits_for_builds(cl_program_info name)
{
	return name == CL_PROGRAM_BINARY_SIZES || name == CL_PROGRAM_BINARIES ||
	       name == CL_PROGRAM_NUM_KERNELS || name == CL_PROGRAM_KERNEL_NAMES;
}

static cl_int get_info(cl_program p, cl_program_info name, const struct info *i)
{
	if (waits_for_builds(name))
		program_wait(p);
	switch (name) {
	case CL_PROGRAM_REFERENCE_COUNT: return result_uint(i, p->object.references);
	case CL_PROGRAM_CONTEXT: return result_handle(i, p->context);
	case CL_PROGRAM_NUM_DEVICES: return result_uint(i, p->device_count);
	case CL_PROGRAM_DEVICES: return get_devices(p, i);
	case CL_PROGRAM_SOURCE: return result_text(i, p->source ? p->source : "");
	case CL_PROGRAM_BINARY_SIZES: return get_sizes(p, i);
	case CL_PROGRAM_BINARIES: return get_binaries(p, i);
	case CL_PROGRAM_NUM_KERNELS:
	case CL_PROGRAM_KERNEL_NAMES: return get_kernels(p, name, i);
	case CL_PROGRAM_IL: return result_bytes(i, "", 0);
	case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
	case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return result_uint(i, CL_FALSE);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetProgramInfo(cl_program program, cl_program_info name,
						     size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};

	opencl_enter();
	cl_int error = CL_INVALID_PROGRAM;
	if (object_is(program, OBJECT_PROGRAM)) {
		object_hold(program);
		error = get_info(program, name, &i);
		object_drop(program);
	}
	opencl_leave();
	return error;
}

static cl_int get_build_info(const struct program_entry *s, cl_program_build_info name,
			     const struct info *i)
{
	const struct build *b = s->status == CL_BUILD_IN_PROGRESS ? NULL : s->build;

	switch (name) {
	case CL_PROGRAM_BUILD_STATUS: return result_bytes(i, &s->status, sizeof(s->status));
	case CL_PROGRAM_BUILD_OPTIONS: return result_text(i, s->options ? s->options : "");
	case CL_PROGRAM_BUILD_LOG: return result_text(i, b && b->log ? b->log : "");
	case CL_PROGRAM_BINARY_TYPE: return result_uint(i, s->type);
	case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
		return result_size(i, b ? b->about.global_bytes : 0);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetProgramBuildInfo(cl_program program, cl_device_id device,
							  cl_program_build_info name, size_t size,
							  void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	const struct program_entry *s = NULL;
	cl_int error = CL_INVALID_PROGRAM;

	opencl_enter();
	if (object_is(program, OBJECT_PROGRAM)) {
		s = object_is(device, OBJECT_DEVICE) ? program_entry(program, device) : NULL;
		error = s ? get_build_info(s, name, &i) : CL_INVALID_DEVICE;
	}
	opencl_leave();
	return error;
}
