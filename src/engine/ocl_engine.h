/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by ocl.c and its parts ocl_dma.c, ocl_probe.c. */
#ifndef ENGINE_OCL_ENGINE_H
#define ENGINE_OCL_ENGINE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/flight.h"
#include "engine/ocl_device.h"
#include "engine/ocl_memory.h"

#define OCL_SAMPLERS 32 /* more than there are */

struct ocl_pin;

/* The bridged half: the thread of DMA works on it, kernels only read `memory`. */
struct ocl_bridge {
	struct ocl_memory memory;
	cl_command_queue queues[FLIGHT_QUEUES];
	struct flights *flights;
	struct ocl_pin *pins;
	atomic_bool told; /* an error of the device, which comes again and again, was logged */
};

struct engine_ocl {
	struct engine engine;
	const struct ocl_library *cl;
	struct ocl_device *device;
	cl_command_queue queue;    /* of kernels */
	struct ocl_bridge *bridge; /* NULL: DIRECT memory */
	bool images;               /* kernels may have them */
	struct {
		struct dxp_sampler what;
		cl_sampler id;
	} samplers[OCL_SAMPLERS];
	uint32_t sampler_count;
};

/* Does the device work in the memory that the options give? DXP_OK: it does; DXP_EUNSUPPORTED: it
 * compiles and runs, but elsewhere; DXP_EDEVICE: it does not even that (logged). */
int ocl_probe(struct engine_ocl *o, const struct engine_options *options);

/* engine_ops.warm: compiles and runs a program that is not kept, which loads the compiler and its
 * library. */
void ocl_engine_warm(struct engine *e);

/* Device memory of options->memory_bytes, and what moves bytes in and out; `o` has its queue.
 * Logged. DXP_ENOMEM, DXP_EIO. */
int ocl_bridge_create(struct engine_ocl *o, const struct engine_options *options);
/* False: the device is lost, and what it may still use stays. */
bool ocl_bridge_destroy(struct engine_ocl *o);
/* As the calls of engine_ops. */
int ocl_pin(struct engine_ocl *o, void *base, uint64_t bytes);
void ocl_unpin(struct engine_ocl *o, void *base);
int ocl_edit(struct engine *e, const struct engine_edit *edit); /* BRIDGED */
int ocl_dma_start(struct engine_ocl *o, const struct engine_dma *dma);

#endif
