/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of one launch as OpenCL objects, which exist while the kernel runs. */
#ifndef ENGINE_OCL_ARGUMENTS_H
#define ENGINE_OCL_ARGUMENTS_H

#include "engine/ocl_engine.h"
#include "engine/ocl_kernel.h"

struct ocl_arguments {
	/* an image may need a buffer below it */
	cl_mem made[2 * COMMAND_ARGS_MAX];
	uint32_t count;
	/* NULL: not a memory object */
	cl_mem of_argument[COMMAND_ARGS_MAX];
};

/* ocl_kernel_check() must have checked the launch. DXP_EINVAL, DXP_EUNSUPPORTED, DXP_EDEVICE: with
 * `text`. Always call ocl_arguments_drop() afterwards. */
int ocl_arguments_set(struct engine_ocl *o, const struct ocl_kernel *k,
		      const struct engine_launch *l, struct ocl_arguments *a,
		      char text[ENGINE_TEXT_BYTES]);
void ocl_arguments_drop(struct engine_ocl *o, struct ocl_arguments *a);

/* ocl_image.c. Makes argument `i` over DIRECT memory, and adds it to `a`. */
int ocl_image_make(struct engine_ocl *o, const struct ocl_kernel *k, const struct engine_launch *l,
		   uint32_t i, struct ocl_arguments *a, char text[ENGINE_TEXT_BYTES]);

/* Returns the bytes from the first to the last pixel. Replaces pitches of 0 by those without gaps.
 * 0: a side is 0, a pitch is too small, or the format is unknown. */
uint64_t ocl_image_span(struct dxp_image *image);

/* Creates the sampler at first use, until ocl_samplers_drop(). NULL: with `text`. */
cl_sampler ocl_sampler_get(struct engine_ocl *o, const struct dxp_sampler *s, uint32_t i,
			   char text[ENGINE_TEXT_BYTES]);
void ocl_samplers_drop(struct engine_ocl *o);

#endif
