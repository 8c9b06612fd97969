/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel with its parameters. Arguments are checked before each launch, so that an error names
 * the wrong one. For one thread. */
#ifndef ENGINE_OCL_KERNEL_H
#define ENGINE_OCL_KERNEL_H

#include "engine/engine.h"
#include "engine/ocl_library.h"

struct ocl_parameter {
	uint8_t kind;    /* enum command_argument_kind */
	bool image_line; /* an image1d_buffer_t */
	/* BYTES: size of the type; 0: unknown, so the device checks it */
	uint32_t bytes;
	char type[48];
};

struct ocl_kernel {
	struct ocl_kernel *next;
	cl_kernel id;
	char name[COMMAND_NAME_BYTES];
	/* launch sizes used so far, a bit per hash */
	uint64_t shapes;
	cl_uint parameter_count;
	struct ocl_parameter parameters[COMMAND_ARGS_MAX];
};

/* DXP_ENOENT, DXP_EINVAL: with `text`; DXP_ENOMEM. */
int ocl_kernel_create(const struct ocl_library *cl, cl_program program, const char *name,
		      struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES]);
void ocl_kernel_destroy(const struct ocl_library *cl, struct ocl_kernel *k);

/* Number, kinds and sizes. DXP_EINVAL: with `text`. */
int ocl_kernel_check(const struct ocl_kernel *k, const struct engine_launch *launch,
		     char text[ENGINE_TEXT_BYTES]);

/* Records launch sizes, for each of which devices compile code. True: not used before; may be false
 * for new ones, because only 64 hash values are kept. */
bool ocl_kernel_shape_is_new(struct ocl_kernel *k, const struct engine_launch *launch);

/* Size for clSetKernelArg(), from the type or by trials; 0: unknown. */
uint32_t ocl_kernel_value_bytes(const struct ocl_library *cl, cl_kernel kernel, cl_uint index,
				cl_kernel_arg_address_qualifier where,
				cl_kernel_arg_access_qualifier access, const char *type);

/* Returns the size of an OpenCL C type such as "uint" or "float4"; 0: not a scalar or vector. */
uint32_t ocl_type_bytes(const char *type);

#endif
