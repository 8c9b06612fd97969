/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of one device, built once: the list has the latest used first, and forgets from its end
 * what nobody uses. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "xpu/ocl_include.h"
#include "xpu/ocl_internal.h"

/* Arguments of kernels are checked before a launch; this makes the compiler keep what is needed for
 * that. */
#define OPTIONS_ALWAYS "-cl-kernel-arg-info"

struct ocl_build {
	struct ocl_build *next;
	uint32_t users;
	char *source, *options; /* the key */
	size_t source_bytes;
	cl_program program; /* NULL: it does not build */
	char *log;          /* may be NULL */
};

static void build_free(struct ocl_device *d, struct ocl_build *b)
{
	if (b->program)
		d->cl->clReleaseProgram(b->program);
	free(b->source);
	free(b->options);
	free(b->log);
	free(b);
}

void ocl_builds_free(struct ocl_device *d)
{
	struct ocl_build *b;

	while ((b = d->builds)) {
		d->builds = b->next;
		build_free(d, b);
	}
}

/* The build of this source, moved to the front; or NULL. */
static struct ocl_build *build_find(struct ocl_device *d, const struct engine_source *s)
{
	for (struct ocl_build **at = &d->builds, *b; (b = *at); at = &b->next) {
		if (b->source_bytes != s->files[0].bytes ||
		    memcmp(b->source, s->files[0].data, b->source_bytes) != 0 ||
		    strcmp(b->options, s->options) != 0)
			continue;
		*at = b->next;
		b->next = d->builds;
		d->builds = b;
		return b;
	}
	return NULL;
}

/* Drops the one unused longest when there are too many. */
static void builds_trim(struct ocl_device *d)
{
	struct ocl_build **last = NULL;

	if (d->build_count <= XPU_CACHE_PROGRAMS)
		return;
	for (struct ocl_build **at = &d->builds; *at; at = &(*at)->next)
		if ((*at)->users == 0)
			last = at;
	if (!last)
		return;
	struct ocl_build *b = *last;
	*last = b->next;
	d->build_count--;
	build_free(d, b);
}

/* What the compiler has to say, cut to XPU_LOG_BYTES_MAX; NULL: nothing, or no memory for it. */
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
	if (log && bytes > XPU_LOG_BYTES_MAX)
		log[XPU_LOG_BYTES_MAX] = '\0';
	return log;
}

static cl_int program_compile(struct ocl_device *d, struct ocl_build *b)
{
	size_t text_bytes, options_bytes = strlen(b->options) + sizeof(OPTIONS_ALWAYS) + 1;
	char *options = malloc(options_bytes);
	char *text = ocl_source_expand(b->source, b->source_bytes, &text_bytes);
	cl_int error = CL_OUT_OF_HOST_MEMORY;

	if (options)
		snprintf(options, options_bytes, "%s %s", b->options, OPTIONS_ALWAYS);
	if (options && text)
		b->program = d->cl->clCreateProgramWithSource(d->context, 1, (const char **)&text,
							      &text_bytes, &error);
	if (b->program)
		error = d->cl->clBuildProgram(b->program, 1, &d->id, options, NULL, NULL);
	free(text);
	free(options);
	return error;
}

static void program_make(struct ocl_device *d, struct ocl_build *b)
{
	cl_int error = program_compile(d, b);

	if (b->program)
		b->log = log_read(d, b->program);
	if (error == CL_SUCCESS)
		return;
	if (!b->log) {
		char text[128];
		snprintf(text, sizeof(text), "the OpenCL compiler refused the program: %s (%d)\n",
			 ocl_error_name(error), error);
		b->log = strdup(text);
	}
	if (b->program)
		d->cl->clReleaseProgram(b->program);
	b->program = NULL;
}

static struct ocl_build *build_make(struct ocl_device *d, const struct engine_source *s)
{
	struct ocl_build *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->source_bytes = s->files[0].bytes;
	b->source = malloc(b->source_bytes + 1);
	b->options = strdup(s->options);
	if (!b->source || !b->options) {
		build_free(d, b);
		return NULL;
	}
	memcpy(b->source, s->files[0].data, b->source_bytes);
	b->source[b->source_bytes] = '\0';
	program_make(d, b);
	b->next = d->builds;
	d->builds = b;
	d->build_count++;
	return b;
}

static int get_locked(struct ocl_device *d, const struct engine_source *s, struct ocl_build **out,
		      char **log)
{
	struct ocl_build *b;

	if (s->kind != DXP_PROGRAM_SOURCE || s->file_count != 1) {
		*log = strdup("not yet: only SOURCE of one file\n");
		return DXP_EBUILD;
	}
	b = build_find(d, s);
	if (!b)
		b = build_make(d, s);
	if (!b)
		return DXP_ENOMEM;
	*log = b->log ? strdup(b->log) : NULL;
	if (b->program) {
		b->users++;
		*out = b;
	}
	int status = b->program ? DXP_OK : DXP_EBUILD;
	builds_trim(d);
	return status;
}

int ocl_build_get(struct ocl_device *d, const struct engine_source *source, struct ocl_build **out,
		  char **log)
{
	pthread_mutex_lock(&d->lock);
	int status = get_locked(d, source, out, log);
	pthread_mutex_unlock(&d->lock);
	return status;
}

void ocl_build_put(struct ocl_device *d, struct ocl_build *b)
{
	pthread_mutex_lock(&d->lock);
	b->users--;
	pthread_mutex_unlock(&d->lock);
}

cl_program ocl_build_program(const struct ocl_build *b)
{
	return b->program;
}
