/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel as one engine uses it: what its arguments are, checked before each launch, so that a
 * host hears which argument is wrong and a device never guesses. One thread. */
#ifndef ENGINE_OCL_KERNEL_H
#define ENGINE_OCL_KERNEL_H

#include "engine/engine.h"
#include "engine/ocl_library.h"

struct ocl_parameter {
	uint8_t kind;    /* enum command_argument_kind */
	bool image_line; /* IMAGE: it is an image1d_buffer_t */
	uint32_t bytes;  /* BYTES: size of its type; 0: not known here, the device checks */
	char type[48];
};

struct ocl_kernel {
	struct ocl_kernel *next;
	cl_kernel id;
	char name[COMMAND_NAME_BYTES];
	uint64_t shapes; /* a bit for each hash of a shape that it has run in */
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

/* Has it not run in these sizes before? Devices compile kernels for each. */
bool ocl_kernel_shape_is_new(struct ocl_kernel *k, const struct engine_launch *launch);

/* What clSetKernelArg wants for an argument, by its type or by trying; 0: it is not known. */
uint32_t ocl_kernel_value_bytes(const struct ocl_library *cl, cl_kernel kernel, cl_uint index,
				cl_kernel_arg_address_qualifier where,
				cl_kernel_arg_access_qualifier access, const char *type);

/* The size of an OpenCL C type by its name ("uint", "float4"); 0: not a scalar or vector. */
uint32_t ocl_type_bytes(const char *type);

#endif
