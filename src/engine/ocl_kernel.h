/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of one engine, with its parameters. The arguments are checked against these before each
 * launch, so that an error can state which argument is wrong. One thread calls these functions. */
#ifndef ENGINE_OCL_KERNEL_H
#define ENGINE_OCL_KERNEL_H

#include "engine/engine.h"
#include "engine/ocl_library.h"

struct ocl_parameter {
	uint8_t kind;    /* enum command_argument_kind */
	bool image_line; /* IMAGE: the parameter is an image1d_buffer_t */
	/* BYTES: size of the parameter's type; 0: the size is unknown, so the device checks it */
	uint32_t bytes;
	char type[48];
};

struct ocl_kernel {
	struct ocl_kernel *next;
	cl_kernel id;
	char name[COMMAND_NAME_BYTES];
	/* set of launch sizes with which the kernel has run, as a bit for each hash */
	uint64_t shapes;
	cl_uint parameter_count;
	struct ocl_parameter parameters[COMMAND_ARGS_MAX];
};

/* Creates the kernel `name` of a program. DXP_ENOENT, DXP_EINVAL: with `text`; DXP_ENOMEM. */
int ocl_kernel_create(const struct ocl_library *cl, cl_program program, const char *name,
		      struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES]);
void ocl_kernel_destroy(const struct ocl_library *cl, struct ocl_kernel *k);

/* Checks the number, kinds and sizes of the arguments. DXP_EINVAL: with `text`. */
int ocl_kernel_check(const struct ocl_kernel *k, const struct engine_launch *launch,
		     char text[ENGINE_TEXT_BYTES]);

/* Returns whether the kernel has not run with these launch sizes before, and records them. Devices
 * compile code for each combination of sizes. May return false for new sizes, because it keeps only
 * one bit for each of 64 hash values. */
bool ocl_kernel_shape_is_new(struct ocl_kernel *k, const struct engine_launch *launch);

/* Returns the size that clSetKernelArg() needs for a parameter, from its type or by trials; 0:
 * unknown. */
uint32_t ocl_kernel_value_bytes(const struct ocl_library *cl, cl_kernel kernel, cl_uint index,
				cl_kernel_arg_address_qualifier where,
				cl_kernel_arg_access_qualifier access, const char *type);

/* Returns the size of an OpenCL C type such as "uint" or "float4"; 0: not a scalar or vector. */
uint32_t ocl_type_bytes(const char *type);

#endif
