/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the stream core's kernel on two buffers of its own engine. Bytes are copied, because they
 * may have any alignment and are not in that engine's memory. */
#include "engine/board_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/engine.h"
#include "engine/limits.h"

#define STAGING_ALIGN 4096

struct board_kernel {
	struct engine *engine;
	struct engine_program *program;
	uint8_t *in, *out; /* buffers of BOARD_CHUNK_BYTES, adjacent */
	char name[COMMAND_NAME_BYTES];
};

int board_engine_open(const struct engine_options *options, engine_opener opener,
		      struct engine **out)
{
	struct engine_description d;
	struct engine *e;
	int status = opener(options, &e);

	if (status != DXP_OK)
		return status;
	engine_describe(e, &d);
	if (d.memory_kind == DXP_MEMORY_DIRECT) {
		*out = e;
		return DXP_OK;
	}
	log_error("'%s' has its own memory and cannot use a board's; choose a CPU device by "
		  "`compute = ocl:PART`, or `compute = none`",
		  d.device);
	engine_close(e);
	return DXP_EUNSUPPORTED;
}

static int source_unread(const char *path, const char *why)
{
	log_error("cannot read the stream core's kernel from %s: %s; `core = kernel FILE NAME` "
		  "names a file of OpenCL C, relative to the board's file or by its full path",
		  path, why);
	return DXP_EINVAL;
}

/* The caller frees *out on success. */
static int source_read(const char *path, FILE *file, char **out, size_t *bytes)
{
	char *text = malloc(BOARD_KERNEL_MAX + 1);

	if (!text)
		return DXP_ENOMEM;
	size_t got = fread(text, 1, BOARD_KERNEL_MAX + 1, file);
	if (!ferror(file) && got <= BOARD_KERNEL_MAX) {
		*out = text;
		*bytes = got;
		return DXP_OK;
	}
	free(text);
	return source_unread(path,
			     ferror(file) ? strerror(errno) : "the file is longer than 1 MiB");
}

static int source_get(const char *path, char **out, size_t *bytes)
{
	FILE *file = descriptor_fopen(path, "re");

	if (!file)
		return source_unread(path, strerror(errno));
	int status = source_read(path, file, out, bytes);
	fclose(file);
	return status;
}

static int program_build(struct board_kernel *k, const char *path)
{
	struct engine_file file = {.name = path};
	struct engine_source source = {.options = "", .files = &file, .file_count = 1};
	char *text, *log = NULL;
	int status = source_get(path, &text, &file.bytes);

	if (status != DXP_OK)
		return status;
	file.data = text;
	status = engine_build(k->engine, &source, &k->program, &log);
	if (status != DXP_OK)
		log_error("the kernel of the stream core does not build; correct %s:\n"
			  "%s",
			  path, log ? log : dxp_status_text(status));
	free(log);
	free(text);
	return status;
}

static int kernel_launch(struct board_kernel *k, uint64_t bytes, uint64_t at,
			 char text[ENGINE_TEXT_BYTES])
{
	uint32_t count = (uint32_t)bytes;
	struct engine_launch l = {
		.program = k->program,
		.kernel = k->name,
		.dimensions = 1,
		.global = {(bytes + BOARD_KERNEL_ITEM_BYTES - 1) / BOARD_KERNEL_ITEM_BYTES, 1, 1},
		.argument_count = 4,
		.arguments = {{.kind = COMMAND_ARG_BUFFER,
			       .memory = k->in,
			       .memory_bytes = BOARD_CHUNK_BYTES},
			      {.kind = COMMAND_ARG_BUFFER,
			       .memory = k->out,
			       .memory_bytes = BOARD_CHUNK_BYTES},
			      {.kind = COMMAND_ARG_BYTES, .bytes = sizeof(count), .value = &count},
			      {.kind = COMMAND_ARG_BYTES, .bytes = sizeof(at), .value = &at}}};

	return engine_run(k->engine, &l, text);
}

/* Detects a wrong name or signature before the first stream. */
static int kernel_try(struct board_kernel *k, const char *path)
{
	char text[ENGINE_TEXT_BYTES] = "";
	int status = kernel_launch(k, BOARD_KERNEL_ITEM_BYTES, 0, text);

	if (status != DXP_OK)
		log_error(
			"the kernel '%s' of the stream core, file %s: %s; declare it as kernel "
			"void %s(global const uchar *in, global uchar *out, uint bytes, ulong at)",
			k->name, path, text[0] ? text : dxp_status_text(status), k->name);
	return status;
}

static int engine_get(struct board_kernel *k, const struct board_config *config,
		      const char *cache_folder, engine_opener opener)
{
	struct engine_options options = {.name = config->compute[0] ? config->compute : "ocl",
					 .cache_folder = cache_folder,
					 .memory = k->in,
					 .memory_bytes = 2 * BOARD_CHUNK_BYTES};

	if (strcmp(options.name, BOARD_COMPUTE_NONE) != 0)
		return board_engine_open(&options, opener, &k->engine);
	log_error("a stream core of type kernel needs an engine; remove `compute = none` or choose "
		  "another core");
	return DXP_EINVAL;
}

int board_kernel_create(const struct board_config *config, const char *cache_folder,
			engine_opener opener, struct board_kernel **out)
{
	struct board_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return DXP_ENOMEM;
	snprintf(k->name, sizeof(k->name), "%s", config->core_kernel);
	k->in = aligned_alloc(STAGING_ALIGN, 2 * BOARD_CHUNK_BYTES);
	int status = k->in ? engine_get(k, config, cache_folder, opener) : DXP_ENOMEM;
	if (status == DXP_OK) {
		memset(k->in, 0, 2 * BOARD_CHUNK_BYTES);
		k->out = k->in + BOARD_CHUNK_BYTES;
		status = program_build(k, config->core_file);
	}
	if (status == DXP_OK)
		status = kernel_try(k, config->core_file);
	if (status != DXP_OK) {
		board_kernel_destroy(k);
		return status;
	}
	*out = k;
	return DXP_OK;
}

void board_kernel_destroy(struct board_kernel *k)
{
	if (!k)
		return;
	if (k->program)
		engine_release(k->engine, k->program);
	engine_close(k->engine);
	free(k->in);
	free(k);
}

int board_kernel_run(struct board_kernel *k, uint8_t *out, const uint8_t *in, uint64_t bytes,
		     uint64_t at)
{
	char text[ENGINE_TEXT_BYTES] = "";

	memcpy(k->in, in, bytes);
	int status = kernel_launch(k, bytes, at, text);
	if (status != DXP_OK) {
		log_error("the stream core failed after %llu bytes of its stream: %s; check its "
			  "kernel",
			  (unsigned long long)at, text[0] ? text : dxp_status_text(status));
		return DXP_EDEVICE;
	}
	memcpy(out, k->out, bytes);
	return DXP_OK;
}
