/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles programs with headers, and links programs. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/options.h"
#include "plugins/opencl/program/program.h"

static cl_int headers_check(const struct program_headers *h)
{
	if ((h->count == 0) != (h->programs == NULL) || (h->count == 0) != (h->names == NULL))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < h->count; i++) {
		if (!h->names[i])
			return CL_INVALID_VALUE;
		if (!object_is(h->programs[i], OBJECT_PROGRAM) || !h->programs[i]->source)
			return CL_INVALID_PROGRAM;
	}
	return CL_SUCCESS;
}

static cl_int compile_check(const struct program_begin *b, const struct program_headers *headers)
{
	cl_int error = program_check(b->program, b->devices, b->notify);

	if (error == CL_SUCCESS)
		error = headers_check(headers);
	if (error != CL_SUCCESS)
		return error;
	if (!b->program->source)
		return CL_INVALID_OPERATION;
	return options_valid(b->options) ? CL_SUCCESS : CL_INVALID_COMPILER_OPTIONS;
}

static cl_int compile_locked(const struct program_begin *b, const struct program_headers *headers)
{
	struct program_begin begin = *b;
	cl_int error = compile_check(b, headers);

	if (error != CL_SUCCESS)
		return error;
	opencl_out();
	error = package_make(b->program, DXP_PROGRAM_COMPILE, b->options, headers, &begin.recipe);
	opencl_in();
	if (error == CL_SUCCESS)
		error = program_check(b->program, b->devices, b->notify);
	if (error == CL_SUCCESS)
		error = program_build_begin(&begin);
	program_recipe_put(begin.recipe);
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL
dxp_clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list,
		     const char *options, cl_uint num_input_headers,
		     const cl_program *input_headers, const char **header_include_names,
		     void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data)
{
	const struct program_devices devices = {num_devices, device_list};
	const struct program_notify notify = {pfn_notify, user_data};
	const struct program_headers headers = {num_input_headers, input_headers,
						(const char *const *)header_include_names};
	const struct program_begin begin = {
		.program = program,
		.devices = &devices,
		.notify = &notify,
		.options = options ? options : "",
		.failure = CL_COMPILE_PROGRAM_FAILURE,
		.type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
	};

	opencl_enter();
	cl_int error = compile_locked(&begin, &headers);
	opencl_leave();
	return error;
}

struct linking {
	cl_context context;
	struct program_devices devices;
	struct program_notify notify;
	const char *options;
	cl_uint count;
	const cl_program *inputs;
};

static bool linkable(cl_program_binary_type type)
{
	return type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
	       type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

/* It may have been compiled here, or loaded as a binary. */
static bool entry_linkable(const struct program_entry *s)
{
	return s && linkable(s->type) &&
	       (s->status == CL_BUILD_SUCCESS || (s->status == CL_BUILD_NONE && s->given));
}

static cl_int link_check(const struct linking *l)
{
	if (!object_is(l->context, OBJECT_CONTEXT))
		return CL_INVALID_CONTEXT;
	if ((l->devices.count == 0) != (l->devices.list == NULL) || l->count == 0 || !l->inputs ||
	    (!l->notify.call && l->notify.data))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < l->count; i++) {
		if (!object_is(l->inputs[i], OBJECT_PROGRAM))
			return CL_INVALID_PROGRAM;
		if (l->inputs[i]->context != l->context)
			return CL_INVALID_CONTEXT;
	}
	for (cl_uint i = 0; i < l->devices.count; i++)
		if (!object_is(l->devices.list[i], OBJECT_DEVICE) ||
		    !context_has(l->context, l->devices.list[i]))
			return CL_INVALID_DEVICE;
	return options_valid_link(l->options) ? CL_SUCCESS : CL_INVALID_LINKER_OPTIONS;
}

/* Returns 1 if all inputs can be linked for this device, 0 if none can, otherwise
 * CL_INVALID_OPERATION. */
static cl_int inputs_have(const struct linking *l, cl_device_id d)
{
	cl_uint have = 0;

	for (cl_uint i = 0; i < l->count; i++) {
		struct program_entry *s = program_entry(l->inputs[i], d);
		if (s && s->status == CL_BUILD_IN_PROGRESS)
			return CL_INVALID_OPERATION;
		have += entry_linkable(s);
	}
	if (have > 0 && have < l->count)
		return CL_INVALID_OPERATION;
	return have > 0;
}

/* Returns the build of an entry. For a binary that was loaded, the first call creates the build. */
static struct build *entry_build(struct program_entry *s)
{
	if (s->build)
		return s->build;
	struct recipe *r = program_entry_recipe(s, "");
	if (r)
		s->build = build_new(s->device, r);
	program_recipe_put(r);
	return s->build;
}

static struct recipe *link_recipe(const struct linking *l, cl_device_id d)
{
	struct options_split options;
	struct recipe *r = NULL;
	cl_int error = CL_SUCCESS;

	if (options_split(l->options, &options))
		r = program_recipe_new(DXP_PROGRAM_LINK, options.rest);
	options_split_clear(&options);

	for (cl_uint i = 0; r && error == CL_SUCCESS && i < l->count; i++) {
		struct build *b = entry_build(program_entry(l->inputs[i], d));
		error = b ? program_recipe_input(r, b) : CL_OUT_OF_HOST_MEMORY;
	}
	if (error == CL_SUCCESS)
		return r;
	program_recipe_put(r);
	return NULL;
}

/* Creates builds for all entries that can be linked. */
static cl_int link_begin(const struct linking *l, cl_program p, struct program_entry **entries,
			 cl_uint *count)
{
	cl_int error = CL_SUCCESS;

	*count = 0;
	for (cl_uint i = 0; error == CL_SUCCESS && i < p->device_count; i++) {
		struct program_entry *s = &p->entries[i];
		cl_int have = inputs_have(l, s->device);
		if (have <= 0) {
			error = have;
			continue;
		}
		struct recipe *r = link_recipe(l, s->device);
		error = r ? program_entry_begin(s, r, l->options) : CL_OUT_OF_HOST_MEMORY;
		program_recipe_put(r);
		entries[(*count)++] = s;
	}
	return error == CL_SUCCESS && *count == 0 ? CL_INVALID_OPERATION : error;
}

static cl_int link_entries(const struct linking *l, cl_program p)
{
	struct program_entry **entries = calloc(p->device_count, sizeof(*entries));
	struct build_job *job = NULL;
	cl_uint count = 0;
	cl_int error = entries ? link_begin(l, p, entries, &count) : CL_OUT_OF_HOST_MEMORY;

	if (error == CL_SUCCESS) {
		job = program_job_new(p, count, entries);
		error = job ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	}
	free(entries);
	if (error != CL_SUCCESS)
		return error;
	job->notify = l->notify;
	job->failure = CL_LINK_PROGRAM_FAILURE;
	job->type = options_have(l->options, "-create-library") ? CL_PROGRAM_BINARY_TYPE_LIBRARY
								: CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	return program_job_run(job);
}

/* A program that failed to link is also returned, because its log contains the reason. */
static cl_int link_locked(const struct linking *l, cl_program *out)
{
	cl_program p = NULL;
	cl_int error = link_check(l);

	if (error != CL_SUCCESS)
		return error;
	if (l->devices.count > 0)
		error = program_new(l->context, l->devices.count, l->devices.list, &p);
	else
		error = program_new(l->context, l->context->device_count, l->context->devices, &p);
	if (error != CL_SUCCESS)
		return error;
	p->linked = true;
	error = link_entries(l, p);
	if (error == CL_SUCCESS || error == CL_LINK_PROGRAM_FAILURE)
		*out = p;
	else
		object_release(p);
	return error;
}

CL_API_ENTRY cl_program CL_API_CALL dxp_clLinkProgram(
	cl_context context, cl_uint num_devices, const cl_device_id *device_list,
	const char *options, cl_uint num_input_programs, const cl_program *input_programs,
	void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data, cl_int *errcode_ret)
{
	const struct linking l = {
		.context = context,
		.devices = {num_devices, device_list},
		.notify = {pfn_notify, user_data},
		.options = options ? options : "",
		.count = num_input_programs,
		.inputs = input_programs,
	};
	cl_program p = NULL;

	opencl_enter();
	cl_int error = link_locked(&l, &p);
	opencl_leave();
	if (errcode_ret)
		*errcode_ret = error;
	return p;
}
