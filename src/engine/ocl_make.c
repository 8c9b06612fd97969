/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/limits.h"
#include "engine/ocl_folder.h"
#include "engine/ocl_include.h"

/* The check before a launch needs argument information. In PoCL 3.1, compiler, linker and loader of
 * binaries all need this option. */
#define OPTIONS_ALWAYS "-cl-kernel-arg-info"
#define FORMAT         1u /* version of the key's and the files' format */

static bool part_add(EVP_MD_CTX *sum, const void *data, uint64_t bytes)
{
	return EVP_DigestUpdate(sum, &bytes, sizeof(bytes)) == 1 &&
	       (bytes == 0 || EVP_DigestUpdate(sum, data, bytes) == 1);
}

static bool source_add(EVP_MD_CTX *sum, const struct engine_source *s)
{
	const uint32_t head[] = {FORMAT, s->kind, s->file_count, s->input_count};
	bool added = part_add(sum, head, sizeof(head)) &&
		     part_add(sum, s->options, strlen(s->options)) &&
		     part_add(sum, ocl_device_header, strlen(ocl_device_header));

	for (uint32_t i = 0; added && i < s->file_count; i++) {
		const char *name = s->files[i].name ? s->files[i].name : "";
		added = part_add(sum, name, i ? strlen(name) : 0) &&
			part_add(sum, s->files[i].data, s->files[i].bytes);
	}
	for (uint32_t i = 0; added && i < s->input_count; i++)
		added = part_add(sum, s->inputs[i]->build->key, OCL_KEY_BYTES);
	return added;
}

bool ocl_make_key(const struct ocl_device *d, const struct engine_source *s,
		  uint8_t key[OCL_KEY_BYTES])
{
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	bool made = sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
		    part_add(sum, d->sum, sizeof(d->sum)) && source_add(sum, s) &&
		    EVP_DigestFinal_ex(sum, key, NULL) == 1;

	EVP_MD_CTX_free(sum);
	return made;
}

/* Returns the log, cut to ENGINE_LOG_BYTES_MAX; NULL: no messages, or no memory. */
static char *log_read(struct ocl_device *d, cl_program program)
{
	size_t bytes = 0;

	if (d->cl->clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) !=
		    CL_SUCCESS ||
	    bytes <= 1)
		return NULL;
	char *log = calloc(1, bytes + 1);
	if (log)
		d->cl->clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, bytes, log,
					     NULL);
	if (log && bytes > ENGINE_LOG_BYTES_MAX)
		log[ENGINE_LOG_BYTES_MAX] = '\0';
	return log;
}

/* Takes log and type of the program when the compiler or linker has returned. */
static void made_finish(struct ocl_device *d, cl_int error, struct ocl_made *m)
{
	cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;

	m->error = error;
	if (m->program)
		m->log = log_read(d, m->program);
	if (error == CL_SUCCESS && m->program) {
		d->cl->clGetProgramBuildInfo(m->program, d->id, CL_PROGRAM_BINARY_TYPE,
					     sizeof(type), &type, NULL);
		m->type = type;
		return;
	}
	if (!m->log && asprintf(&m->log, "the OpenCL compiler rejected the program: %s (%d)\n",
				ocl_error_name(error), error) < 0)
		m->log = NULL;
	if (m->program)
		d->cl->clReleaseProgram(m->program);
	m->program = NULL;
}

/* `expand`: inserts dxp/device.h as text, because there is no directory of headers. */
static int text_compile(struct ocl_device *d, const struct engine_source *s, bool expand,
			const char *options, struct ocl_made *m)
{
	const char *text = s->files[0].data;
	size_t bytes = s->files[0].bytes;
	char *expanded = NULL;
	cl_int error;

	if (bytes > 0 && text[bytes - 1] == '\0')
		bytes--;
	if (expand) {
		expanded = ocl_source_expand(text, bytes, &bytes);
		if (!expanded)
			return DXP_ENOMEM;
		text = expanded;
	}
	m->program = d->cl->clCreateProgramWithSource(d->context, 1, &text, &bytes, &error);
	if (m->program)
		error = s->kind == DXP_PROGRAM_COMPILE
				? d->cl->clCompileProgram(m->program, 1, &d->id, options, 0, NULL,
							  NULL, NULL, NULL)
				: d->cl->clBuildProgram(m->program, 1, &d->id, options, NULL, NULL);
	free(expanded);
	made_finish(d, error, m);
	return DXP_OK;
}

static int source_make(struct ocl_device *d, const struct engine_source *s,
		       const struct ocl_folder *f, struct ocl_made *m)
{
	char *words, *options = NULL;
	int status = ocl_folder_options(f, s->options, &words, &m->log);

	if (status != DXP_OK)
		return status;
	if (asprintf(&options, "%s " OPTIONS_ALWAYS, words) < 0) {
		free(words);
		return DXP_ENOMEM;
	}
	free(words);
	status = text_compile(d, s, !f, options, m);
	free(options);
	if (f && m->log)
		ocl_folder_hide(f, m->log);
	return status;
}

static int compile(struct ocl_device *d, const struct engine_source *s, struct ocl_made *m)
{
	struct ocl_folder folder;

	if (s->file_count == 0) {
		m->log = strdup("the program has no source text\n");
		return DXP_EBUILD;
	}
	if (s->file_count == 1)
		return source_make(d, s, NULL, m);
	int status = ocl_folder_create(d->scratch ? d->scratch : "/tmp", s, &folder, &m->log);
	if (status != DXP_OK)
		return status;
	status = source_make(d, s, &folder, m);
	ocl_folder_destroy(&folder);
	return status;
}

/* The option only permits optimizations, so a linker may ignore it. */
static bool is_licence(const char *word)
{
	static const char *const words[] = {"-cl-denorms-are-zero", "-cl-no-signed-zeroes",
					    "-cl-no-signed-zeros",  "-cl-unsafe-math-optimizations",
					    "-cl-finite-math-only", "-cl-fast-relaxed-math",
					    "-cl-no-subgroup-ifp"};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* The caller frees the options. */
static char *link_options(const char *options, bool with_licences)
{
	char *copy = strdup(options), *rest;
	char *out = copy ? calloc(1, strlen(options) + sizeof(OPTIONS_ALWAYS) + 2) : NULL;

	for (char *word = out ? strtok_r(copy, " \t\n", &rest) : NULL; word;
	     word = strtok_r(NULL, " \t\n", &rest)) {
		if (!with_licences && is_licence(word))
			continue;
		strcat(out, word);
		strcat(out, " ");
	}
	if (out)
		strcat(out, OPTIONS_ALWAYS);
	free(copy);
	return out;
}

static int programs_link(struct ocl_device *d, const struct engine_source *s,
			 const cl_program *inputs, bool with_licences, cl_int *error,
			 struct ocl_made *m)
{
	char *options = link_options(s->options, with_licences);

	if (!options)
		return DXP_ENOMEM;
	m->program = d->cl->clLinkProgram(d->context, 1, &d->id, options, s->input_count, inputs,
					  NULL, NULL, error);
	free(options);
	return DXP_OK;
}

static int inputs_read(const struct engine_source *s, cl_program *inputs, char **log)
{
	for (uint32_t i = 0; i < s->input_count; i++) {
		const struct ocl_build *b = s->inputs[i]->build;
		uint32_t type = b->made.type;
		inputs[i] = b->made.program;
		if (type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
		    type == CL_PROGRAM_BINARY_TYPE_LIBRARY)
			continue;
		if (asprintf(log,
			     "input %u is neither a compiled program nor a library; only these can "
			     "be linked\n",
			     i) < 0)
			return DXP_ENOMEM;
		return DXP_EBUILD;
	}
	return DXP_OK;
}

static int link_inputs(struct ocl_device *d, const struct engine_source *s, struct ocl_made *m)
{
	cl_program *inputs = calloc(s->input_count + 1, sizeof(*inputs));
	cl_int error = CL_SUCCESS;

	if (!inputs)
		return DXP_ENOMEM;
	int status = inputs_read(s, inputs, &m->log);
	if (status == DXP_OK)
		status = programs_link(d, s, inputs, true, &error, m);
	/* Without -create-library, PoCL 3.1 rejects options that permit optimizations: links again
	 * without them. */
	if (status == DXP_OK && error == CL_INVALID_LINKER_OPTIONS) {
		if (m->program)
			d->cl->clReleaseProgram(m->program);
		status = programs_link(d, s, inputs, false, &error, m);
	}
	free(inputs);
	if (status == DXP_OK)
		made_finish(d, error, m);
	return status;
}

int ocl_make(struct ocl_device *d, const struct engine_source *s, struct ocl_made *out)
{
	struct ocl_made m = {0};
	int status = s->kind == DXP_PROGRAM_LINK ? link_inputs(d, s, &m) : compile(d, s, &m);

	if (status != DXP_OK && status != DXP_EBUILD) {
		free(m.log);
		return status;
	}
	*out = m;
	return DXP_OK;
}

bool ocl_made_load(struct ocl_device *d, const struct ocl_pack *pack, struct ocl_made *out)
{
	const unsigned char *binary = pack->binary;
	size_t bytes = pack->binary_bytes;
	cl_int loaded, error;

	cl_program program = d->cl->clCreateProgramWithBinary(d->context, 1, &d->id, &bytes,
							      &binary, &loaded, &error);
	if (program && loaded == CL_SUCCESS) {
		error = pack->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE
				? d->cl->clBuildProgram(program, 1, &d->id, OPTIONS_ALWAYS, NULL,
							NULL)
				: CL_SUCCESS;
		if (error == CL_SUCCESS) {
			*out = (struct ocl_made){.program = program, .type = pack->type};
			return true;
		}
	}
	if (program)
		d->cl->clReleaseProgram(program);
	return false;
}

uint8_t *ocl_made_binary(struct ocl_device *d, const struct ocl_made *m, size_t *bytes)
{
	*bytes = 0;
	if (d->cl->clGetProgramInfo(m->program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes), bytes,
				    NULL) != CL_SUCCESS ||
	    *bytes == 0)
		return NULL;
	unsigned char *binary = malloc(*bytes);
	if (binary && d->cl->clGetProgramInfo(m->program, CL_PROGRAM_BINARIES, sizeof(binary),
					      &binary, NULL) == CL_SUCCESS)
		return binary;
	free(binary);
	return NULL;
}
