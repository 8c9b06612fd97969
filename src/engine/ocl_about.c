/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of kernels and arguments, as records. */
#include "engine/ocl_about.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/about.h>

#include "base/util.h"
#include "engine/ocl_kernel.h"

#define TEXT_BYTES 4096 /* of a name, type name or attribute; longer text is cut */

struct teller {
	const struct ocl_library *cl;
	cl_device_id device;
	struct records *out;
};

/* Returns the length with the final zero. */
static size_t text_get(const struct ocl_library *cl, cl_kernel k, cl_uint i,
		       cl_kernel_arg_info what, char text[TEXT_BYTES])
{
	text[0] = '\0';
	if (cl->clGetKernelArgInfo(k, i, what, TEXT_BYTES, text, NULL) != CL_SUCCESS)
		text[0] = '\0';
	text[TEXT_BYTES - 1] = '\0';
	return strlen(text) + 1;
}

static void argument_report(const struct teller *t, cl_kernel k, cl_uint i)
{
	cl_kernel_arg_address_qualifier where = CL_KERNEL_ARG_ADDRESS_PRIVATE;
	cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
	cl_kernel_arg_type_qualifier type = CL_KERNEL_ARG_TYPE_NONE;
	char type_name[TEXT_BYTES], name[TEXT_BYTES];

	if (t->cl->clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where), &where,
				      NULL) != CL_SUCCESS)
		return;
	t->cl->clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access,
				  NULL);
	t->cl->clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(type), &type, NULL);
	size_t type_bytes = text_get(t->cl, k, i, CL_KERNEL_ARG_TYPE_NAME, type_name);
	size_t name_bytes = text_get(t->cl, k, i, CL_KERNEL_ARG_NAME, name);
	uint8_t *at = records_add(t->out, DXP_ABOUT_ARGUMENT, 20 + type_bytes + name_bytes);
	if (!at)
		return;
	records_put_le(at, where, 4);
	records_put_le(at + 4, access, 4);
	records_put_le(at + 8, type, 8);
	records_put_le(at + 16, ocl_kernel_value_bytes(t->cl, k, i, where, access, type_name), 4);
	memcpy(at + 20, type_name, type_bytes);
	memcpy(at + 20 + type_bytes, name, name_bytes);
}

static void info_put(const struct teller *t, uint32_t what, const void *data, size_t bytes)
{
	uint8_t *at = records_add(t->out, DXP_ABOUT_KERNEL_INFO, 4 + bytes);

	if (!at)
		return;
	records_put_le(at, what, 4);
	memcpy(at + 4, data, bytes);
}

/* Returns the text behind the next "__attribute__((", with any spacing; NULL: there is none. */
static char *attribute_find(char *at)
{
	static const char word[] = "__attribute__";

	for (at = strstr(at, word); at; at = strstr(at, word)) {
		at += sizeof(word) - 1;
		at += strspn(at, " ");
		if (strncmp(at, "((", 2) == 0)
			return at + 2;
	}
	return NULL;
}

/* Converts attributes to the standard's form, "name(a,b,c) name". PoCL returns the text of the
 * source instead. */
static void attributes_clean(char *text)
{
	char *out = text, *at = attribute_find(text);

	while (at) {
		int depth = 0;
		if (out > text)
			*out++ = ' ';
		for (; *at && (depth > 0 || *at != ')'); at++) {
			depth += (*at == '(') - (*at == ')');
			if (*at != ' ')
				*out++ = *at;
		}
		at = attribute_find(at);
	}
	if (out > text)
		*out = '\0';
}

/* PoCL loses the required work-group size, so it is restored. */
static void attributes_report(const struct teller *t, cl_kernel k)
{
	char text[TEXT_BYTES] = "";
	size_t sizes[3] = {0};

	t->cl->clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof(text) - 1, text, NULL);
	attributes_clean(text);
	t->cl->clGetKernelWorkGroupInfo(k, t->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
					sizeof(sizes), sizes, NULL);
	if (text[0] == '\0' && sizes[0] > 0)
		snprintf(text, sizeof(text), "reqd_work_group_size(%zu,%zu,%zu)", sizes[0],
			 sizes[1], sizes[2]);
	info_put(t, CL_KERNEL_ATTRIBUTES, text, strlen(text) + 1);
}

static void kernel_report(const struct teller *t, cl_kernel k, const char *name)
{
	static const cl_kernel_work_group_info groups[] = {
		CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
		CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
		CL_KERNEL_PRIVATE_MEM_SIZE};
	cl_uint arguments = 0;
	uint64_t answer[3];
	size_t bytes;

	records_put(t->out, DXP_ABOUT_KERNEL, name, strlen(name));
	t->cl->clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments, NULL);
	info_put(t, CL_KERNEL_NUM_ARGS, &arguments, sizeof(arguments));
	attributes_report(t, k);
	for (size_t i = 0; i < ARRAY_COUNT(groups); i++)
		if (t->cl->clGetKernelWorkGroupInfo(k, t->device, groups[i], sizeof(answer), answer,
						    &bytes) == CL_SUCCESS)
			info_put(t, groups[i], answer, min_u64(bytes, sizeof(answer)));
	for (cl_uint i = 0; i < arguments; i++)
		argument_report(t, k, i);
}

/* The caller frees them; NULL: none. */
static char *names_get(const struct teller *t, cl_program program)
{
	size_t bytes = 0;

	if (t->cl->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &bytes) !=
		    CL_SUCCESS ||
	    bytes == 0)
		return NULL;
	char *names = calloc(1, bytes + 1);
	if (names)
		t->cl->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, names, NULL);
	return names;
}

bool ocl_about_program(const struct ocl_library *cl, cl_device_id device, cl_program program,
		       struct records *out)
{
	const struct teller t = {cl, device, out};
	cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
	uint64_t globals = 0;
	uint8_t number[8];
	char *rest;

	cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type,
				  NULL);
	records_put_le(number, type, 4);
	records_put(out, DXP_ABOUT_BINARY_TYPE, number, 4);
	if (type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
		return !out->failed;
	if (cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
				      sizeof(globals), &globals, NULL) == CL_SUCCESS) {
		records_put_le(number, globals, 8);
		records_put(out, DXP_ABOUT_GLOBAL_BYTES, number, 8);
	}
	char *names = names_get(&t, program);
	for (char *name = names ? strtok_r(names, ";", &rest) : NULL; name;
	     name = strtok_r(NULL, ";", &rest)) {
		cl_int error;
		cl_kernel k = cl->clCreateKernel(program, name, &error);
		if (!k)
			continue;
		kernel_report(&t, k, name);
		cl->clReleaseKernel(k);
	}
	free(names);
	return !out->failed;
}
