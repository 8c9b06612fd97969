/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine `cuda`: an NVIDIA device through its driver library, without CUDA headers or toolkit.
 * Memory is BRIDGED. Kernels are PTX, or CUDA C if NVRTC is installed. They reach a NIC's window as
 * mapped host memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/cuda_engine.h"
#include "engine/limits.h"

static struct engine_cuda *cuda_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_cuda, engine);
}

static void cuda_describe(const struct engine *e, struct engine_description *out)
{
	const struct engine_cuda *c = cuda_of(e);

	*out = (struct engine_description){.kind = ENGINE_CUDA,
					   .name = "cuda",
					   .compute_units = c->processors,
					   .memory_kind = DXP_MEMORY_BRIDGED,
					   .reaches_host = c->maps_host};
	snprintf(out->device, sizeof(out->device), "%s", c->name);
}

static uint32_t cuda_dma_dequeue(struct engine *e, struct engine_dma_end *out, uint32_t count)
{
	return flights_dequeue(cuda_of(e)->flights, out, count);
}

static void cuda_dma_reset(struct engine *e)
{
	flights_reset(cuda_of(e)->flights);
}

static void memory_free(struct engine_cuda *c)
{
	if (c->bounce)
		c->cu->cuMemFree_v2(c->bounce);
	if (c->memory)
		c->cu->cuMemFree_v2(c->memory);
}

static void cuda_close(struct engine *e)
{
	struct engine_cuda *c = cuda_of(e);

	c->cu->cuCtxSetCurrent(c->context);
	if (!cuda_dma_destroy(c)) {
		log_error("CUDA device '%s' has not completed a DMA; its memory stays allocated "
			  "until this process exits",
			  c->name);
		return;
	}
	memory_free(c);
	c->cu->cuDevicePrimaryCtxRelease_v2(c->device);
	free(c);
}

static const struct engine_ops cuda_ops = {
	.build = cuda_build,
	.release = cuda_release,
	.run = cuda_run,
	.edit = cuda_edit,
	.describe = cuda_describe,
	.close = cuda_close,
	.pin = cuda_pin,
	.unpin = cuda_unpin,
	.dma_start = cuda_dma_start,
	.dma_dequeue = cuda_dma_dequeue,
	.dma_reset = cuda_dma_reset,
};

/* The node table does not allow unprintable characters. */
static int name_read(struct engine_cuda *c, int device)
{
	char name[256] = "";
	int error = c->cu->cuDeviceGetName(name, sizeof(name) - 1, device);

	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(c->name) - 1, name);
	for (char *p = c->name; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return error;
}

/* NULL: the first device. */
static int device_choose(struct engine_cuda *c, const char *part)
{
	int count = 0, error = c->cu->cuDeviceGetCount(&count);

	for (int i = 0; error == CUDA_OK && i < count; i++) {
		error = c->cu->cuDeviceGet(&c->device, i);
		if (error == CUDA_OK)
			error = name_read(c, c->device);
		if (error == CUDA_OK && (!part || strcasestr(c->name, part)))
			return DXP_OK;
	}
	if (error != CUDA_OK)
		log_error("CUDA cannot list its devices: %s (%d); check whether nvidia-smi can",
			  cuda_error_text(c->cu, error), error);
	else if (count > 0)
		log_error("no CUDA device has '%s' in its name; of %d devices, the first is '%s'",
			  part, count, c->name);
	else
		log_error("CUDA finds no device; check CUDA_VISIBLE_DEVICES");
	return DXP_EUNSUPPORTED;
}

static int properties_read(struct engine_cuda *c)
{
	int processors = 0, major = 0, minor = 0, maps = 0;
	int error = c->cu->cuDeviceGetAttribute(&processors, CUDA_DEVICE_PROCESSORS, c->device);

	if (error == CUDA_OK)
		error = c->cu->cuDeviceGetAttribute(&major, CUDA_DEVICE_CAPABILITY_MAJOR,
						    c->device);
	if (error == CUDA_OK)
		error = c->cu->cuDeviceGetAttribute(&minor, CUDA_DEVICE_CAPABILITY_MINOR,
						    c->device);
	if (error == CUDA_OK)
		error = c->cu->cuDeviceGetAttribute(&maps, CUDA_DEVICE_MAPS_HOST, c->device);
	c->maps_host = maps != 0;
	c->processors = (uint32_t)processors;
	c->capability = (uint32_t)(major * 10 + minor);
	return error;
}

static int context_open(struct engine_cuda *c)
{
	int error = properties_read(c);

	if (error == CUDA_OK)
		error = c->cu->cuDevicePrimaryCtxSetFlags_v2(c->device, CUDA_CONTEXT_MAP_HOST);
	if (error == CUDA_OK || error == CUDA_CONTEXT_ACTIVE) /* of another slot */
		error = c->cu->cuDevicePrimaryCtxRetain(&c->context, c->device);
	if (error == CUDA_OK) {
		error = c->cu->cuCtxSetCurrent(c->context);
		if (error == CUDA_OK)
			return DXP_OK;
		c->cu->cuDevicePrimaryCtxRelease_v2(c->device);
	}
	log_error("cannot create a context on CUDA device '%s': %s (%d); check with nvidia-smi "
		  "whether it is in exclusive use or failed",
		  c->name, cuda_error_text(c->cu, error), error);
	return DXP_EIO;
}

static int memory_allocate(struct engine_cuda *c)
{
	size_t unused = 0, total = 0;
	int error = c->cu->cuMemAlloc_v2(&c->memory, c->memory_bytes);

	if (error == CUDA_OK)
		error = c->cu->cuMemAlloc_v2(&c->bounce, FLIGHT_BOUNCE_BYTES);
	if (error == CUDA_OK)
		return DXP_OK;
	memory_free(c);
	c->cu->cuMemGetInfo_v2(&unused, &total);
	log_error("CUDA device '%s' cannot allocate %llu MiB of memory: %s (%d); %zu of %zu MiB "
		  "are free; use a smaller --memory",
		  c->name, (unsigned long long)(c->memory_bytes >> 20),
		  cuda_error_text(c->cu, error), error, unused >> 20, total >> 20);
	return error == CUDA_OUT_OF_MEMORY ? DXP_ENOMEM : DXP_EIO;
}

/* On failure, frees all that it has opened. */
static int device_open(struct engine_cuda *c, const struct engine_options *options)
{
	int status = context_open(c);

	if (status != DXP_OK)
		return status;
	status = memory_allocate(c);
	if (status == DXP_OK) {
		status = cuda_dma_create(c, options);
		if (status == DXP_OK)
			return DXP_OK;
		memory_free(c);
	}
	c->cu->cuDevicePrimaryCtxRelease_v2(c->device);
	return status;
}

int engine_cuda_open(const struct engine_options *options, const char *device, struct engine **out)
{
	struct engine_cuda *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	c->engine.ops = &cuda_ops;
	c->memory_bytes = options->memory_bytes;
	int status = cuda_library_get(&c->cu);
	if (status == DXP_OK)
		status = device_choose(c, device);
	if (status == DXP_OK)
		status = device_open(c, options);
	if (status != DXP_OK) {
		free(c);
		return status;
	}
	*out = &c->engine;
	return DXP_OK;
}
