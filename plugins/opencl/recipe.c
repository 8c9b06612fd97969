/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements recipes, the inputs of builds. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/options.h"
#include "plugins/opencl/program.h"

struct recipe *recipe_new(enum dxp_program_kind kind, const char *options)
{
	struct recipe *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct recipe){.references = 1, .kind = kind, .options = strdup(options)};
	if (!r->options) {
		free(r);
		return NULL;
	}
	return r;
}

cl_int recipe_add(struct recipe *r, const char *name, void *data, size_t bytes)
{
	struct dxp_file *more = realloc(r->files, (r->file_count + 1) * sizeof(*more));
	char *copy = strdup(name);

	if (more)
		r->files = more;
	if (!more || !copy || !data) {
		free(copy);
		free(data);
		return CL_OUT_OF_HOST_MEMORY;
	}
	r->files[r->file_count++] = (struct dxp_file){.name = copy, .data = data, .bytes = bytes};
	return CL_SUCCESS;
}

cl_int recipe_input(struct recipe *r, struct build *input)
{
	struct build **more = realloc(r->inputs, (r->input_count + 1) * sizeof(struct build *));

	if (!more)
		return CL_OUT_OF_HOST_MEMORY;
	r->inputs = more;
	r->inputs[r->input_count++] = input;
	build_hold(input);
	return CL_SUCCESS;
}

/* The standard names clBuildProgram's and clCompileProgram's options, and programs from source.
 * Binaries and linker options thus do not count. Nodes do not list kernels of compiled objects, so
 * one input with the option suffices for all linked kernels. */
bool recipe_has_argument_info(const struct recipe *r)
{
	if (r->kind == DXP_PROGRAM_SOURCE || r->kind == DXP_PROGRAM_COMPILE)
		return options_have(r->options, "-cl-kernel-arg-info");
	for (uint32_t i = 0; i < r->input_count; i++)
		if (recipe_has_argument_info(r->inputs[i]->recipe))
			return true;
	return false;
}

void recipe_put(struct recipe *r)
{
	if (!r || --r->references > 0)
		return;
	for (uint32_t i = 0; i < r->file_count; i++) {
		free((void *)(uintptr_t)r->files[i].name);
		free((void *)(uintptr_t)r->files[i].data);
	}
	for (uint32_t i = 0; i < r->input_count; i++)
		build_put(r->inputs[i]);
	free(r->files);
	free(r->inputs);
	free(r->options);
	free(r);
}
