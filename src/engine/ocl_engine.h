/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between the files of engine `ocl` that use its struct. */
#ifndef ENGINE_OCL_ENGINE_H
#define ENGINE_OCL_ENGINE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/flight.h"
#include "engine/ocl_device.h"
#include "engine/ocl_memory.h"

#define OCL_SAMPLERS 32 /* samplers of an engine: more than the number of valid combinations */

struct ocl_pin;

/* State for BRIDGED memory. The DMA thread uses it; the kernels' thread only reads `memory`. */
struct ocl_bridge {
	struct ocl_memory memory;
	cl_command_queue queues[FLIGHT_QUEUES];
	struct flights *flights;
	struct ocl_pin *pins;
	atomic_bool reported; /* a device error was logged; further errors are not logged */
};

struct engine_ocl {
	struct engine engine;
	const struct ocl_library *cl;
	struct ocl_device *device;
	cl_command_queue queue;    /* queue that kernels use */
	struct ocl_bridge *bridge; /* NULL: DIRECT memory */
	bool images;               /* the device can use images */
	struct {
		struct dxp_sampler what;
		cl_sampler id;
	} samplers[OCL_SAMPLERS];
	uint32_t sampler_count;
};

/* Converts an OpenCL error to DXP_EINVAL or DXP_EDEVICE, and stores it in engine.native. */
static inline int ocl_judge(struct engine_ocl *o, cl_int error)
{
	o->engine.native = error;
	return error == CL_SUCCESS ? DXP_OK : error <= CL_INVALID_VALUE ? DXP_EINVAL : DXP_EDEVICE;
}

/* Tests whether the device can work in place in the given memory. DXP_OK: it can; DXP_EUNSUPPORTED:
 * it works only in its own memory; DXP_EDEVICE: it does not work at all (logged). */
int ocl_probe(struct engine_ocl *o, const struct engine_options *options);

/* Implements engine_ops.warm: compiles and runs a temporary program, so that the driver loads the
 * compiler and its library. */
void ocl_engine_warm(struct engine *e);

/* Creates device memory of options->memory_bytes and the queues for its DMA. o->queue must exist.
 * DXP_ENOMEM, DXP_EIO: logged. */
int ocl_bridge_create(struct engine_ocl *o, const struct engine_options *options);
/* Frees device memory and queues. Returns false if the device is lost; then the resources that it
 * uses are not freed. */
bool ocl_bridge_destroy(struct engine_ocl *o);
/* Functions of struct engine_ops, described there. */
int ocl_pin(struct engine_ocl *o, void *base, uint64_t bytes);
void ocl_unpin(struct engine_ocl *o, void *base);
int ocl_edit(struct engine *e, const struct engine_edit *edit); /* for BRIDGED memory */
int ocl_dma_start(struct engine_ocl *o, const struct engine_dma *dma);

#endif
