/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of one launch as the device takes them: buffers and images are wrapped around
 * device memory for as long as the kernel runs. */
#ifndef ENGINE_OCL_ARGUMENTS_H
#define ENGINE_OCL_ARGUMENTS_H

#include "engine/ocl_engine.h"
#include "engine/ocl_kernel.h"

struct ocl_arguments {
	cl_mem made[2 * COMMAND_ARGS_MAX]; /* an image may want a buffer below it */
	uint32_t count;
	cl_mem of_argument[COMMAND_ARGS_MAX]; /* NULL: it has none */
};

/* Is it the caller's mistake, or the device's? Notes the error for whoever asked for the command.
 */
int ocl_judge(struct engine_ocl *o, cl_int error);

/* Sets all arguments of `k`, which ocl_kernel_check let pass. DXP_EINVAL, DXP_EUNSUPPORTED,
 * DXP_EDEVICE: with `text`. Always to be dropped. */
int ocl_arguments_set(struct engine_ocl *o, const struct ocl_kernel *k,
		      const struct engine_launch *l, struct ocl_arguments *a,
		      char text[ENGINE_TEXT_BYTES]);
void ocl_arguments_drop(struct engine_ocl *o, struct ocl_arguments *a);

/* ocl_image.c: argument `i`, an image over memory that we address; what is made is put into `a`. */
int ocl_image_make(struct engine_ocl *o, const struct ocl_kernel *k, const struct engine_launch *l,
		   uint32_t i, struct ocl_arguments *a, char text[ENGINE_TEXT_BYTES]);

/* The bytes from an image's first to behind its last pixel, by its pitches, which are put in where
 * they are 0; 0: it is none: a side of 0, a pitch too small, an unknown format. */
uint64_t ocl_image_span(struct dxp_image *image);

/* The sampler, made when it is first wanted and kept; NULL: with `text`. */
cl_sampler ocl_sampler_get(struct engine_ocl *o, const struct dxp_sampler *s, uint32_t i,
			   char text[ENGINE_TEXT_BYTES]);
void ocl_samplers_drop(struct engine_ocl *o);

#endif
