/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements program objects: creation from source and from binaries, release. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/binary.h"
#include "plugins/opencl/program/program.h"

void program_entry_clear(struct program_entry *s)
{
	build_put(s->build);
	free(s->options);
	s->build = NULL;
	s->options = NULL;
}

static void program_end(void *handle)
{
	cl_program p = handle;

	for (cl_uint i = 0; i < p->device_count; i++) {
		program_entry_clear(&p->entries[i]);
		free(p->entries[i].given);
	}
	free(p->entries);
	free(p->source);
	object_drop(p->context);
}

cl_int program_new(cl_context c, cl_uint count, const cl_device_id *devices, cl_program *out)
{
	object_end_with(OBJECT_PROGRAM, program_end);
	cl_program p = object_new(OBJECT_PROGRAM, sizeof(*p));

	if (!p)
		return CL_OUT_OF_HOST_MEMORY;
	p->entries = calloc(count, sizeof(*p->entries));
	object_hold(c);
	p->context = c;
	if (!p->entries) {
		object_release(p);
		return CL_OUT_OF_HOST_MEMORY;
	}
	p->device_count = count;
	for (cl_uint i = 0; i < count; i++)
		p->entries[i] =
			(struct program_entry){.device = devices[i], .status = CL_BUILD_NONE};
	*out = p;
	return CL_SUCCESS;
}

struct program_entry *program_entry(cl_program p, cl_device_id d)
{
	for (cl_uint i = 0; i < p->device_count; i++)
		if (p->entries[i].device == d)
			return &p->entries[i];
	return NULL;
}

struct program_entry *program_executable(cl_program p)
{
	for (cl_uint i = 0; i < p->device_count; i++)
		if (p->entries[i].status == CL_BUILD_SUCCESS &&
		    p->entries[i].type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
			return &p->entries[i];
	return NULL;
}

static void *answer(cl_int error, void *handle, cl_int *errcode_ret)
{
	if (errcode_ret)
		*errcode_ret = error;
	return error == CL_SUCCESS ? handle : NULL;
}

static size_t string_bytes(const char *string, const size_t *lengths, cl_uint i)
{
	return lengths && lengths[i] ? lengths[i] : strlen(string);
}

static char *source_join(cl_uint count, const char **strings, const size_t *lengths, size_t *bytes)
{
	size_t total = 0, at = 0;

	for (cl_uint i = 0; i < count; i++)
		total += string_bytes(strings[i], lengths, i);
	char *source = malloc(total + 1);
	for (cl_uint i = 0; source && i < count; i++) {
		size_t n = string_bytes(strings[i], lengths, i);
		memcpy(source + at, strings[i], n);
		at += n;
	}
	if (!source)
		return NULL;
	source[at] = '\0';
	/* Some programs count the zero byte at the end of the text in the length. */
	while (at > 0 && source[at - 1] == '\0')
		at--;
	*bytes = at;
	return source;
}

static cl_int source_check(cl_context c, cl_uint count, const char **strings)
{
	if (!object_is(c, OBJECT_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (count == 0 || !strings)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++)
		if (!strings[i])
			return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_program CL_API_CALL dxp_clCreateProgramWithSource(cl_context context, cl_uint count,
								  const char **strings,
								  const size_t *lengths,
								  cl_int *errcode_ret)
{
	cl_program p = NULL;

	opencl_enter();
	cl_int error = source_check(context, count, strings);
	if (error == CL_SUCCESS)
		error = program_new(context, context->device_count, context->devices, &p);
	if (error == CL_SUCCESS) {
		p->source = source_join(count, strings, lengths, &p->source_bytes);
		if (!p->source) {
			object_release(p);
			error = CL_OUT_OF_HOST_MEMORY;
		}
	}
	opencl_leave();
	return answer(error, p, errcode_ret);
}

struct given {
	cl_uint count;
	const cl_device_id *devices;
	const size_t *lengths;
	const unsigned char **binaries;
};

static cl_int binary_check(cl_context c, const struct given *g)
{
	if (!object_is(c, OBJECT_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (g->count == 0 || !g->devices || !g->lengths || !g->binaries)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < g->count; i++) {
		if (!object_is(g->devices[i], OBJECT_DEVICE) || !context_has(c, g->devices[i]))
			return CL_INVALID_DEVICE;
		for (cl_uint j = 0; j < i; j++)
			if (g->devices[j] == g->devices[i])
				return CL_INVALID_DEVICE;
	}
	return CL_SUCCESS;
}

/* Checks that a binary was made for this kind of device. */
static cl_int binary_for(cl_device_id d, const unsigned char *data, size_t bytes,
			 struct binary *out)
{
	char sentence[DEVICE_SENTENCE_BYTES];

	if (!data || bytes == 0)
		return CL_INVALID_VALUE;
	if (!binary_read(out, data, bytes))
		return CL_INVALID_BINARY;
	cl_int error = device_connect(d);
	if (error != CL_SUCCESS)
		return error;
	size_t have = device_sentence(d, sentence);
	if (have != out->device_bytes || memcmp(sentence, out->device, have) != 0)
		return CL_INVALID_BINARY;
	return CL_SUCCESS;
}

static cl_int binaries_check(const struct given *g, cl_int *status)
{
	cl_int error = CL_SUCCESS;
	struct binary b;

	for (cl_uint i = 0; i < g->count; i++) {
		cl_int one = binary_for(g->devices[i], g->binaries[i], g->lengths[i], &b);
		if (status)
			status[i] = one;
		if (one != CL_SUCCESS && error != CL_INVALID_VALUE)
			error = one;
	}
	return error;
}

static cl_int binaries_copy(cl_program p, const struct given *g)
{
	struct binary b;

	for (cl_uint i = 0; i < g->count; i++) {
		struct program_entry *s = &p->entries[i];
		s->given = malloc(g->lengths[i]);
		if (!s->given)
			return CL_OUT_OF_HOST_MEMORY;
		s->given_bytes = g->lengths[i];
		memcpy(s->given, g->binaries[i], g->lengths[i]);
		if (binary_read(&b, s->given, s->given_bytes))
			s->type = b.type;
	}
	return CL_SUCCESS;
}

CL_API_ENTRY cl_program CL_API_CALL dxp_clCreateProgramWithBinary(
	cl_context context, cl_uint num_devices, const cl_device_id *device_list,
	const size_t *lengths, const unsigned char **binaries, cl_int *binary_status,
	cl_int *errcode_ret)
{
	const struct given g = {num_devices, device_list, lengths, binaries};
	cl_program p = NULL;

	opencl_enter();
	cl_int error = binary_check(context, &g);
	if (error == CL_SUCCESS)
		error = binaries_check(&g, binary_status);
	if (error == CL_SUCCESS)
		error = program_new(context, g.count, g.devices, &p);
	if (error == CL_SUCCESS) {
		error = binaries_copy(p, &g);
		if (error != CL_SUCCESS)
			object_release(p);
	}
	opencl_leave();
	return answer(error, p, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainProgram(cl_program program)
{
	opencl_enter();
	bool good = object_is(program, OBJECT_PROGRAM);
	if (good)
		object_retain(program);
	opencl_leave();
	return good ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseProgram(cl_program program)
{
	opencl_enter();
	bool good = object_is_owned(program, OBJECT_PROGRAM);
	if (good)
		object_release(program);
	opencl_leave();
	return good ? CL_SUCCESS : CL_INVALID_PROGRAM;
}
