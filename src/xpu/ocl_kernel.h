/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel as one engine uses it: what its arguments are, checked before each launch, so that a
 * host hears which argument is wrong and a device never guesses. One thread. */
#ifndef XPU_OCL_KERNEL_H
#define XPU_OCL_KERNEL_H

#include "xpu/engine.h"
#include "xpu/ocl_library.h"

struct ocl_parameter {
	uint8_t kind;   /* enum command_argument_kind */
	uint32_t bytes; /* BYTES: size of its type; 0: not known here, the device checks */
	char type[48];
};

struct ocl_kernel {
	struct ocl_kernel *next;
	cl_kernel id;
	char name[COMMAND_NAME_BYTES];
	cl_uint parameter_count;
	struct ocl_parameter parameters[COMMAND_ARGS_MAX];
};

/* DXP_ENOENT, DXP_EINVAL: with `text`; DXP_ENOMEM. */
int ocl_kernel_create(const struct ocl_library *cl, cl_program program, const char *name,
		      struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES]);
void ocl_kernel_destroy(const struct ocl_library *cl, struct ocl_kernel *k);

/* Do number, kinds and sizes agree? DXP_EINVAL: with `text`. */
int ocl_kernel_check(const struct ocl_kernel *k, const struct engine_launch *launch,
		     char text[ENGINE_TEXT_BYTES]);

/* The size of an OpenCL C type by its name ("uint", "float4"); 0: not a scalar or vector. */
uint32_t ocl_type_bytes(const char *type);

#endif
