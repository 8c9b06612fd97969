/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

uint32_t ocl_type_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} scalars[] = {{"char", 1},  {"uchar", 1},  {"bool", 1},  {"short", 2}, {"ushort", 2},
		       {"half", 2},  {"int", 4},    {"uint", 4},  {"float", 4}, {"long", 8},
		       {"ulong", 8}, {"double", 8}, {"size_t", 8}};
	size_t letters = strcspn(type, "0123456789");
	unsigned long elements = type[letters] ? strtoul(type + letters, NULL, 10) : 1;

	if (elements == 3)
		elements = 4; /* OpenCL C 6.1.5: a vector of three has the size of four */
	for (size_t i = 0; i < ARRAY_COUNT(scalars); i++)
		if (strlen(scalars[i].name) == letters &&
		    strncmp(scalars[i].name, type, letters) == 0 && elements <= 16)
			return scalars[i].bytes * (uint32_t)elements;
	return 0;
}

/* Tries all sizes: a device that checks them accepts only one. 0: it does not check. */
static uint32_t value_bytes_try(const struct ocl_library *cl, cl_kernel kernel, cl_uint index)
{
	static const uint8_t zeros[COMMAND_VALUE_BYTES];
	uint32_t found = 0;

	for (uint32_t bytes = 1; bytes <= sizeof(zeros); bytes++) {
		if (cl->clSetKernelArg(kernel, index, bytes, zeros) != CL_SUCCESS)
			continue;
		if (found)
			return 0;
		found = bytes;
	}
	return found;
}

uint32_t ocl_kernel_value_bytes(const struct ocl_library *cl, cl_kernel kernel, cl_uint index,
				cl_kernel_arg_address_qualifier where,
				cl_kernel_arg_access_qualifier access, const char *type)
{
	if (where == CL_KERNEL_ARG_ADDRESS_LOCAL)
		return 0;
	if (where != CL_KERNEL_ARG_ADDRESS_PRIVATE || access != CL_KERNEL_ARG_ACCESS_NONE ||
	    strcmp(type, "sampler_t") == 0)
		return sizeof(cl_mem);
	uint32_t bytes = ocl_type_bytes(type);
	return bytes ? bytes : value_bytes_try(cl, kernel, index);
}

/* Images first: they have an access qualifier, and devices report different address spaces for
 * them. */
static uint8_t kind_of(cl_kernel_arg_address_qualifier where, cl_kernel_arg_access_qualifier access,
		       const char *type)
{
	if (access != CL_KERNEL_ARG_ACCESS_NONE && strncmp(type, "image", 5) == 0)
		return COMMAND_ARG_IMAGE;
	if (strcmp(type, "sampler_t") == 0)
		return COMMAND_ARG_SAMPLER;
	if (where == CL_KERNEL_ARG_ADDRESS_LOCAL)
		return COMMAND_ARG_LOCAL;
	if (where == CL_KERNEL_ARG_ADDRESS_PRIVATE)
		return COMMAND_ARG_BYTES;
	return strstr(type, "dxp_window") ? COMMAND_ARG_NIC : COMMAND_ARG_BUFFER;
}

static int parameter_read(const struct ocl_library *cl, cl_kernel kernel, cl_uint index,
			  struct ocl_parameter *out)
{
	cl_kernel_arg_address_qualifier where;
	cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
	char type[256] = "";

	if (cl->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where),
				   &where, NULL) != CL_SUCCESS)
		return DXP_EUNSUPPORTED;
	cl->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof(type) - 1, type,
			       NULL);
	snprintf(out->type, sizeof(out->type), "%.*s", (int)sizeof(out->type) - 1, type);
	cl->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access),
			       &access, NULL);
	out->kind = kind_of(where, access, type);
	out->image_line = strncmp(type, "image1d_buffer_t", 16) == 0;
	if (out->kind == COMMAND_ARG_BYTES)
		out->bytes = ocl_kernel_value_bytes(cl, kernel, index, where, access, type);
	return DXP_OK;
}

static int parameters_read(const struct ocl_library *cl, struct ocl_kernel *k,
			   char text[ENGINE_TEXT_BYTES])
{
	cl->clGetKernelInfo(k->id, CL_KERNEL_NUM_ARGS, sizeof(k->parameter_count),
			    &k->parameter_count, NULL);
	if (k->parameter_count > COMMAND_ARGS_MAX) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.99s' has %u arguments; at most %d are possible", k->name,
			 k->parameter_count, COMMAND_ARGS_MAX);
		return DXP_EINVAL;
	}
	for (cl_uint i = 0; i < k->parameter_count; i++)
		if (parameter_read(cl, k->id, i, &k->parameters[i]) != DXP_OK) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "the device does not report the type of argument %u of kernel "
				 "'%.99s'",
				 i, k->name);
			return DXP_EINVAL;
		}
	return DXP_OK;
}

int ocl_kernel_create(const struct ocl_library *cl, cl_program program, const char *name,
		      struct ocl_kernel **out, char text[ENGINE_TEXT_BYTES])
{
	struct ocl_kernel *k = calloc(1, sizeof(*k));
	cl_int error;

	if (!k)
		return DXP_ENOMEM;
	snprintf(k->name, sizeof(k->name), "%s", name);
	k->id = cl->clCreateKernel(program, name, &error);
	if (!k->id) {
		snprintf(text, ENGINE_TEXT_BYTES, "the program has no kernel '%.100s' (%s)", name,
			 ocl_error_name(error));
		free(k);
		return DXP_ENOENT;
	}
	int status = parameters_read(cl, k, text);
	if (status != DXP_OK) {
		ocl_kernel_destroy(cl, k);
		return status;
	}
	*out = k;
	return DXP_OK;
}

void ocl_kernel_destroy(const struct ocl_library *cl, struct ocl_kernel *k)
{
	cl->clReleaseKernel(k->id);
	free(k);
}

bool ocl_kernel_shape_is_new(struct ocl_kernel *k, const struct engine_launch *l)
{
	const uint64_t *size = l->local[0] ? l->local : l->global;
	uint64_t hash = 0;

	for (int d = 0; d < l->dimensions; d++)
		hash = (hash ^ size[d]) * 0x9e3779b97f4a7c15ull;
	const uint64_t bit = 1ull << (hash >> 58);
	const bool is_new = (k->shapes & bit) == 0;
	k->shapes |= bit;
	return is_new;
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[COMMAND_ARG_BYTES] = "a value",      [COMMAND_ARG_BUFFER] = "a buffer",
		[COMMAND_ARG_LOCAL] = "local memory", [COMMAND_ARG_NIC] = "the NIC",
		[COMMAND_ARG_IMAGE] = "an image",     [COMMAND_ARG_SAMPLER] = "a sampler",
	};

	return kind < ARRAY_COUNT(names) ? names[kind] : "an unknown type";
}

int ocl_kernel_check(const struct ocl_kernel *k, const struct engine_launch *l,
		     char text[ENGINE_TEXT_BYTES])
{
	if (l->argument_count != k->parameter_count) {
		snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.100s' has %u arguments, %u were given",
			 k->name, k->parameter_count, l->argument_count);
		return DXP_EINVAL;
	}
	for (uint32_t i = 0; i < k->parameter_count; i++) {
		const struct ocl_parameter *p = &k->parameters[i];
		const struct engine_argument *a = &l->arguments[i];
		if (a->kind != p->kind) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s', argument %u: its type is %s (%s), %s was given",
				 k->name, i, kind_name(p->kind), p->type, kind_name(a->kind));
			return DXP_EINVAL;
		}
		if (p->kind == COMMAND_ARG_BYTES && p->bytes && p->bytes != a->bytes) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s', argument %u: %s has %u bytes, %u were given",
				 k->name, i, p->type, p->bytes, a->bytes);
			return DXP_EINVAL;
		}
		if (p->kind == COMMAND_ARG_LOCAL && a->bytes == 0) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s', argument %u: 0 bytes of local memory", k->name,
				 i);
			return DXP_EINVAL;
		}
	}
	return DXP_OK;
}
