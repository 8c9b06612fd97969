/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine `ocl`: kernels on an OpenCL device that works in our memory in place. Device memory is
 * wrapped for each launch (CL_MEM_USE_HOST_PTR, 0.1 us a buffer on PoCL); whether the device really
 * works there is tried out at the start. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "xpu/engine.h"
#include "xpu/ocl_device.h"
#include "xpu/ocl_kernel.h"

struct engine_program {
	struct ocl_build *build;
	struct ocl_kernel *kernels; /* those used so far */
};

struct engine_ocl {
	struct engine engine;
	const struct ocl_library *cl;
	struct ocl_device *device;
	cl_command_queue queue;
};

static struct engine_ocl *ocl_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_ocl, engine);
}

static int ocl_build(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log)
{
	struct engine_ocl *o = ocl_of(e);
	struct engine_program *p = calloc(1, sizeof(*p));

	if (!p)
		return DXP_ENOMEM;
	int status = ocl_build_get(o->device, source, &p->build, log);
	if (status == DXP_OK)
		*program = p;
	else
		free(p);
	return status;
}

static void ocl_release(struct engine *e, struct engine_program *p)
{
	struct engine_ocl *o = ocl_of(e);
	struct ocl_kernel *k;

	while ((k = p->kernels)) {
		p->kernels = k->next;
		ocl_kernel_destroy(o->cl, k);
	}
	ocl_build_put(o->device, p->build);
	free(p);
}

static int kernel_find(struct engine_ocl *o, struct engine_program *p, const char *name,
		       struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES])
{
	for (struct ocl_kernel *k = p->kernels; k; k = k->next)
		if (strcmp(k->name, name) == 0) {
			*out = k;
			return DXP_OK;
		}
	int status = ocl_kernel_create(o->cl, ocl_build_program(p->build), name, out, text);
	if (status != DXP_OK)
		return status;
	(*out)->next = p->kernels;
	p->kernels = *out;
	return DXP_OK;
}

static int sizes_check(const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	unsigned __int128 items = 1;

	for (int d = 0; d < l->dimensions; d++) {
		items *= l->global[d];
		if (items > XPU_ITEMS_MAX) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': more than 2^40 work items", l->kernel);
			return DXP_EINVAL;
		}
		if (l->local[0] && (l->local[d] == 0 || l->global[d] % l->local[d])) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': local size %llu does not divide global size %llu",
				 l->kernel, (unsigned long long)l->local[d],
				 (unsigned long long)l->global[d]);
			return DXP_EINVAL;
		}
	}
	return DXP_OK;
}

/* Buffers made for one launch. */
struct wrapping {
	cl_mem buffers[COMMAND_ARGS_MAX];
	uint32_t count;
};

static cl_int argument_set(struct engine_ocl *o, cl_kernel kernel, cl_uint i,
			   const struct engine_argument *a, struct wrapping *w)
{
	cl_int error;

	if (a->kind == COMMAND_ARG_BYTES)
		return o->cl->clSetKernelArg(kernel, i, a->bytes, a->value);
	if (a->kind == COMMAND_ARG_LOCAL)
		return o->cl->clSetKernelArg(kernel, i, a->bytes, NULL);
	cl_mem buffer = o->cl->clCreateBuffer(ocl_device_context(o->device),
					      CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
					      a->memory_bytes, a->memory, &error);
	if (!buffer)
		return error;
	w->buffers[w->count++] = buffer;
	return o->cl->clSetKernelArg(kernel, i, sizeof(buffer), &buffer);
}

static cl_int arguments_set(struct engine_ocl *o, cl_kernel kernel, const struct engine_launch *l,
			    struct wrapping *w)
{
	cl_int error = CL_SUCCESS;

	for (cl_uint i = 0; error == CL_SUCCESS && i < l->argument_count; i++)
		error = argument_set(o, kernel, i, &l->arguments[i], w);
	return error;
}

static cl_int kernel_run(struct engine_ocl *o, cl_kernel kernel, const struct engine_launch *l)
{
	size_t global[3], local[3];

	for (int d = 0; d < 3; d++) {
		global[d] = l->global[d];
		local[d] = l->local[d];
	}
	cl_int error = o->cl->clEnqueueNDRangeKernel(o->queue, kernel, l->dimensions, NULL, global,
						     l->local[0] ? local : NULL, 0, NULL, NULL);
	cl_int end = o->cl->clFinish(o->queue);
	return error == CL_SUCCESS ? end : error;
}

/* Is it the caller's mistake, or the device's? */
static int status_of(cl_int error)
{
	return error == CL_SUCCESS ? DXP_OK : error <= CL_INVALID_VALUE ? DXP_EINVAL : DXP_EDEVICE;
}

static int ocl_run(struct engine *e, const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	struct engine_ocl *o = ocl_of(e);
	struct wrapping w = {.count = 0};
	struct ocl_kernel *k = NULL;
	int status = kernel_find(o, l->program, l->kernel, &k, text);

	if (status == DXP_OK)
		status = ocl_kernel_check(k, l, text);
	if (status == DXP_OK)
		status = sizes_check(l, text);
	if (status != DXP_OK)
		return status;
	cl_int error = arguments_set(o, k->id, l, &w);
	if (error == CL_SUCCESS)
		error = kernel_run(o, k->id, l);
	for (uint32_t i = 0; i < w.count; i++)
		o->cl->clReleaseMemObject(w.buffers[i]);
	if (error != CL_SUCCESS)
		snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': %s (%d)", l->kernel,
			 ocl_error_name(error), error);
	return status_of(error);
}

static void ocl_describe(const struct engine *e, struct engine_description *out)
{
	const struct engine_ocl *o = ocl_of(e);

	*out = (struct engine_description){.kind = ENGINE_OCL,
					   .name = "ocl",
					   .compute_units = ocl_device_units(o->device),
					   .memory_kind = DXP_MEMORY_DIRECT,
					   .reaches_host =
						   true}; /* no other device passes the probe */
	snprintf(out->device, sizeof(out->device), "%s", ocl_device_name(o->device));
}

static void ocl_close(struct engine *e)
{
	struct engine_ocl *o = ocl_of(e);

	if (o->queue)
		o->cl->clReleaseCommandQueue(o->queue);
	ocl_device_put(o->device);
	free(o);
}

static const struct engine_ops ocl_ops = {
	.build = ocl_build,
	.release = ocl_release,
	.run = ocl_run,
	.describe = ocl_describe,
	.close = ocl_close,
};

static int queue_create(struct engine_ocl *o)
{
	cl_int error;

	o->queue = o->cl->clCreateCommandQueue(ocl_device_context(o->device),
					       ocl_device_id(o->device), 0, &error);
	if (o->queue)
		return DXP_OK;
	log_error("OpenCL device '%s' gives no queue: %s (%d); is it in use?",
		  ocl_device_name(o->device), ocl_error_name(error), error);
	return DXP_EIO;
}

/* A kernel writes its pointer and a number; both must be found in our memory without asking the
 * device for it. */
static int probe_run(struct engine_ocl *o, const struct engine_options *options,
		     struct engine_program *program)
{
	const uint64_t number = 0x6478702070726f62ull;
	uint64_t *memory = options->memory;
	struct engine_launch l = {.program = program,
				  .kernel = "dxp_probe",
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .argument_count = 2};
	char text[ENGINE_TEXT_BYTES];

	l.arguments[0] = (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
						  .memory = memory,
						  .memory_bytes = options->memory_bytes};
	l.arguments[1] = (struct engine_argument){
		.kind = COMMAND_ARG_BYTES, .bytes = sizeof(number), .value = &number};
	int status = engine_run(&o->engine, &l, text);
	if (status != DXP_OK) {
		log_error("OpenCL device '%s' does not run a kernel: %s; choose another by "
			  "--engine ocl:NAME",
			  ocl_device_name(o->device), text);
		return DXP_EUNSUPPORTED;
	}
	bool ours = memory[0] == (uint64_t)(uintptr_t)memory && memory[1] == number;
	memset(memory, 0, 2 * sizeof(*memory));
	if (ours)
		return DXP_OK;
	log_error("OpenCL device '%s' does not work in host memory, which is not supported yet; "
		  "choose a CPU device by --engine ocl",
		  ocl_device_name(o->device));
	return DXP_EUNSUPPORTED;
}

static int probe(struct engine_ocl *o, const struct engine_options *options)
{
	static const char text[] = "kernel void dxp_probe(global ulong *p, ulong number) { p[0] = "
				   "(ulong)p; p[1] = number; }\n";
	struct engine_source source = {.text = text, .bytes = sizeof(text) - 1, .options = ""};
	struct engine_program *program;
	char *log = NULL;
	int status = engine_build(&o->engine, &source, &program, &log);

	if (status != DXP_OK) {
		log_error("OpenCL device '%s' does not compile: %s; is its installation complete?",
			  ocl_device_name(o->device), log ? log : dxp_status_text(status));
		free(log);
		return DXP_EUNSUPPORTED;
	}
	free(log);
	status = probe_run(o, options, program);
	engine_release(&o->engine, program);
	return status;
}

int engine_ocl_open(const struct engine_options *options, const char *device, struct engine **out)
{
	struct engine_ocl *o = calloc(1, sizeof(*o));

	if (!o)
		return DXP_ENOMEM;
	if (options->cache_folder)
		setenv("POCL_CACHE_DIR", options->cache_folder, 0);
	int status = ocl_device_get(device, &o->device);
	if (status != DXP_OK) {
		free(o);
		return status;
	}
	o->engine.ops = &ocl_ops;
	ocl_library_get(&o->cl);
	status = queue_create(o);
	if (status == DXP_OK)
		status = probe(o, options);
	if (status != DXP_OK) {
		ocl_close(&o->engine);
		return status;
	}
	*out = &o->engine;
	return DXP_OK;
}
