/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine `ocl`: kernels on an OpenCL device. If a probe shows that the device can work in
 * place in host memory, memory is DIRECT, and launches wrap it in buffers (CL_MEM_USE_HOST_PTR,
 * 0.1 us each on PoCL). Otherwise it is BRIDGED: kernels get sub-buffers, and ocl_dma.c moves the
 * bytes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/engine.h"
#include "engine/ocl_about.h"
#include "engine/ocl_arguments.h"
#include "engine/ocl_engine.h"
#include "engine/ocl_make.h"

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
	int status = ocl_build_get(o->device, source, &p->build, log, &e->native);
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

static int device_fetch(struct engine_ocl *o, uint8_t **out, size_t *bytes)
{
	struct records r = {0};

	if (!ocl_about_device(o->cl, ocl_device_id(o->device), ocl_device_context(o->device),
			      o->images, &r)) {
		free(r.data);
		return DXP_ENOMEM;
	}
	*out = r.data;
	*bytes = r.bytes;
	return DXP_OK;
}

static int ocl_fetch(struct engine *e, struct engine_program *p, uint8_t what, uint8_t **out,
		     size_t *bytes)
{
	struct engine_ocl *o = ocl_of(e);

	if (!p)
		return what == FETCH_DEVICE ? device_fetch(o, out, bytes) : DXP_EINVAL;
	return what == FETCH_ABOUT     ? ocl_build_about(p->build, out, bytes)
	       : what == FETCH_BINARY  ? ocl_build_binary(o->device, p->build, out, bytes)
	       : what == FETCH_PROFILE ? DXP_EUNSUPPORTED
				       : DXP_EINVAL;
}

static int kernel_find(struct engine_ocl *o, struct engine_program *p, const char *name,
		       struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES])
{
	for (struct ocl_kernel *k = p->kernels; k; k = k->next)
		if (strcmp(k->name, name) == 0) {
			*out = k;
			return DXP_OK;
		}
	if (strlen(name) > ocl_device_name_bytes(o->device)) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.40s...': on this device, a kernel's name has at most %u "
			 "letters; use a shorter one",
			 name, ocl_device_name_bytes(o->device));
		return DXP_EUNSUPPORTED;
	}
	int status = ocl_kernel_create(o->cl, p->build->made.program, name, out, text);
	if (status != DXP_OK)
		return status;
	(*out)->next = p->kernels;
	p->kernels = *out;
	return DXP_OK;
}

static int kernel_run(struct engine_ocl *o, cl_kernel kernel, const struct engine_launch *l,
		      char text[ENGINE_TEXT_BYTES])
{
	size_t offset[3], global[3], local[3];

	for (int d = 0; d < 3; d++) {
		offset[d] = l->offset[d];
		global[d] = l->global[d];
		local[d] = l->local[d];
	}
	cl_int error =
		o->cl->clEnqueueNDRangeKernel(o->queue, kernel, l->dimensions, offset, global,
					      l->local[0] ? local : NULL, 0, NULL, NULL);
	cl_int end = o->cl->clFinish(o->queue);
	error = error == CL_SUCCESS ? end : error;
	if (error != CL_SUCCESS)
		snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': %s (%d)", l->kernel,
			 ocl_error_name(error), error);
	return ocl_judge(o, error);
}

static int lost_check(const struct engine_ocl *o, char text[ENGINE_TEXT_BYTES])
{
	if (!o->bridge || !flights_lost(o->bridge->flights))
		return DXP_OK;
	snprintf(text, ENGINE_TEXT_BYTES,
		 "device '%s' hangs and is no longer used; restart the xPU",
		 ocl_device_name(o->device));
	return DXP_EDEVICE;
}

static int ocl_run(struct engine *e, const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	struct engine_ocl *o = ocl_of(e);
	struct ocl_arguments w;
	struct ocl_kernel *k = NULL;
	int status = lost_check(o, text);

	if (status == DXP_OK)
		status = kernel_find(o, l->program, l->kernel, &k, text);
	if (status == DXP_OK)
		status = ocl_kernel_check(k, l, text);
	if (status == DXP_OK)
		status = engine_sizes_check(l, text);
	if (status != DXP_OK)
		return status;
	status = ocl_arguments_set(o, k, l, &w, text);
	if (status == DXP_OK)
		status = kernel_run(o, k->id, l, text);
	ocl_arguments_drop(o, &w);
	if (status == DXP_OK && ocl_kernel_shape_is_new(k, l))
		ocl_build_grown(o->device, l->program->build);
	return status;
}

static void ocl_folders(struct engine *e, const char *work, const char *cache)
{
	ocl_device_folders(ocl_of(e)->device, work, cache);
}

static void ocl_describe(const struct engine *e, struct engine_description *out)
{
	const struct engine_ocl *o = ocl_of(e);

	*out = (struct engine_description){
		.kind = ENGINE_OCL,
		.name = "ocl",
		.compute_units = ocl_device_units(o->device),
		.memory_kind = o->bridge ? DXP_MEMORY_BRIDGED : DXP_MEMORY_DIRECT,
		.reaches_host = !o->bridge, /* as the probe verified */
		.plain = ocl_device_is_plain(o->device),
	};
	snprintf(out->device, sizeof(out->device), "%s", ocl_device_name(o->device));
}

static int bridged_pin(struct engine *e, void *base, uint64_t bytes)
{
	return ocl_pin(ocl_of(e), base, bytes);
}

static void bridged_unpin(struct engine *e, void *base)
{
	ocl_unpin(ocl_of(e), base);
}

static int bridged_dma_start(struct engine *e, const struct engine_dma *dma)
{
	return ocl_dma_start(ocl_of(e), dma);
}

static uint32_t bridged_dma_dequeue(struct engine *e, struct engine_dma_end *out, uint32_t count)
{
	return flights_dequeue(ocl_of(e)->bridge->flights, out, count);
}

static void bridged_dma_reset(struct engine *e)
{
	flights_reset(ocl_of(e)->bridge->flights);
}

static void ocl_close(struct engine *e)
{
	struct engine_ocl *o = ocl_of(e);

	if (o->bridge && !ocl_bridge_destroy(o))
		return;
	ocl_samplers_drop(o);
	if (o->queue)
		o->cl->clReleaseCommandQueue(o->queue);
	ocl_device_put(o->device);
	free(o);
}

static const struct engine_ops direct_ops = {
	.build = ocl_build,
	.release = ocl_release,
	.run = ocl_run,
	.fetch = ocl_fetch,
	.warm = ocl_engine_warm,
	.folders = ocl_folders,
	.describe = ocl_describe,
	.close = ocl_close,
};

static const struct engine_ops bridged_ops = {
	.build = ocl_build,
	.release = ocl_release,
	.run = ocl_run,
	.fetch = ocl_fetch,
	.describe = ocl_describe,
	.edit = ocl_edit,
	.close = ocl_close,
	.pin = bridged_pin,
	.unpin = bridged_unpin,
	.dma_start = bridged_dma_start,
	.dma_dequeue = bridged_dma_dequeue,
	.dma_reset = bridged_dma_reset,
};

static int queue_create(struct engine_ocl *o)
{
	cl_int error;

	o->queue = o->cl->clCreateCommandQueue(ocl_device_context(o->device),
					       ocl_device_id(o->device), 0, &error);
	if (o->queue)
		return DXP_OK;
	log_error("cannot create a queue on OpenCL device '%s': %s (%d); check whether another "
		  "program uses it",
		  ocl_device_name(o->device), ocl_error_name(error), error);
	return DXP_EIO;
}

static int memory_open(struct engine_ocl *o, const struct engine_options *options, bool bridged)
{
	int status = bridged || !options->memory ? DXP_EUNSUPPORTED : ocl_probe(o, options);

	if (status == DXP_OK)
		return DXP_OK;
	if (status == DXP_EDEVICE)
		return DXP_EUNSUPPORTED;
	status = ocl_bridge_create(o, options);
	if (status == DXP_OK)
		o->engine.ops = &bridged_ops;
	return status;
}

/* Images need DIRECT memory: BRIDGED would need copies. */
static void images_query(struct engine_ocl *o)
{
	cl_bool there = CL_FALSE;

	o->cl->clGetDeviceInfo(ocl_device_id(o->device), CL_DEVICE_IMAGE_SUPPORT, sizeof(there),
			       &there, NULL);
	o->images = there && !o->bridge;
}

int engine_ocl_open(const struct engine_options *options, const char *device, bool bridged,
		    struct engine **out)
{
	struct engine_ocl *o = calloc(1, sizeof(*o));

	if (!o)
		return DXP_ENOMEM;
	int status = ocl_device_get(device, options, &o->device);
	if (status != DXP_OK) {
		free(o);
		return status;
	}
	o->engine.ops = &direct_ops;
	ocl_library_get(&o->cl);
	status = queue_create(o);
	if (status == DXP_OK)
		status = memory_open(o, options, bridged);
	if (status != DXP_OK) {
		ocl_close(&o->engine);
		return status;
	}
	images_query(o);
	*out = &o->engine;
	return DXP_OK;
}
