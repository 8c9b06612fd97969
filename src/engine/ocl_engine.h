/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between the files of engine `ocl` that use its struct. */
#ifndef ENGINE_OCL_ENGINE_H
#define ENGINE_OCL_ENGINE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/flight.h"
#include "engine/ocl_device.h"
#include "engine/ocl_memory.h"

#define OCL_SAMPLERS 32 /* more than there are valid combinations */

struct ocl_pin;

/* BRIDGED memory, for the DMA thread. The kernels' thread only reads `memory`. */
struct ocl_bridge {
	struct ocl_memory memory;
	cl_command_queue queues[FLIGHT_QUEUES];
	struct flights *flights;
	struct ocl_pin *pins;
	atomic_bool reported; /* an error was logged; further ones are not */
};

struct engine_ocl {
	struct engine engine;
	const struct ocl_library *cl;
	struct ocl_device *device;
	cl_command_queue queue;    /* for kernels */
	struct ocl_bridge *bridge; /* NULL: DIRECT memory */
	bool images;               /* images work */
	struct {
		struct dxp_sampler what;
		cl_sampler id;
	} samplers[OCL_SAMPLERS];
	uint32_t sampler_count;
};

/* DXP_EINVAL or DXP_EDEVICE; also sets engine.native. */
static inline int ocl_judge(struct engine_ocl *o, cl_int error)
{
	o->engine.native = error;
	return error == CL_SUCCESS ? DXP_OK : error <= CL_INVALID_VALUE ? DXP_EINVAL : DXP_EDEVICE;
}

/* Can the device work in place in the memory? DXP_EUNSUPPORTED: only in its own; DXP_EDEVICE: not
 * at all (logged). */
int ocl_probe(struct engine_ocl *o, const struct engine_options *options);

/* engine_ops.warm: runs a temporary program, so that the driver loads the compiler and its
 * library. */
void ocl_engine_warm(struct engine *e);

/* Creates device memory, and queues for its DMA; needs o->queue. DXP_ENOMEM, DXP_EIO: logged. */
int ocl_bridge_create(struct engine_ocl *o, const struct engine_options *options);
/* False: the device is lost, and the resources that it uses are not freed. */
bool ocl_bridge_destroy(struct engine_ocl *o);
/* See struct engine_ops. */
int ocl_pin(struct engine_ocl *o, void *base, uint64_t bytes);
void ocl_unpin(struct engine_ocl *o, void *base);
int ocl_edit(struct engine *e, const struct engine_edit *edit); /* BRIDGED */
int ocl_dma_start(struct engine_ocl *o, const struct engine_dma *dma);

#endif
