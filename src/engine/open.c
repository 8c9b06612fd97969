/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens engines by name. Engine "none": an xPU with only memory and registers. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "engine/engine.h"

static int none_build(struct engine *e, const struct engine_source *source,
		      struct engine_program **program, char **log)
{
	return DXP_EUNSUPPORTED;
}

static void none_release(struct engine *e, struct engine_program *program)
{
}

static int none_run(struct engine *e, const struct engine_launch *launch,
		    char text[ENGINE_TEXT_BYTES])
{
	snprintf(text, ENGINE_TEXT_BYTES, "this xPU has no engine; start it with another --engine");
	return DXP_EUNSUPPORTED;
}

static void none_describe(const struct engine *e, struct engine_description *out)
{
	*out = (struct engine_description){
		.kind = ENGINE_NONE, .name = "none", .memory_kind = DXP_MEMORY_DIRECT};
}

static void none_close(struct engine *e)
{
}

static const struct engine_ops none_ops = {
	.build = none_build,
	.release = none_release,
	.run = none_run,
	.describe = none_describe,
	.close = none_close,
};
static struct engine none = {&none_ops};

/* `name` is `engine` or "ENGINE:PART". *part: NULL without one. */
static bool named(const char *name, const char *engine, const char **part)
{
	size_t bytes = strlen(engine);

	if (strncmp(name, engine, bytes) != 0)
		return false;
	*part = name[bytes] == ':' && name[bytes + 1] != '\0' ? name + bytes + 1 : NULL;
	return name[bytes] == '\0' || *part;
}

int engine_open(const struct engine_options *options, struct engine **out)
{
	const char *name = options->name, *part;

	if (strcmp(name, "none") == 0) {
		*out = &none;
		return DXP_OK;
	}
	if (named(name, "ocl", &part))
		return engine_ocl_open(options, part, false, out);
	if (named(name, "ocl+bridged", &part))
		return engine_ocl_open(options, part, true, out);
	if (named(name, "cuda", &part))
		return engine_cuda_open(options, part, out);
	if (named(name, "rv32", &part))
		return engine_rv32_open(options, part, out);
	if (named(name, "board", &part))
		return engine_board_open(options, part, engine_open, out);
	log_error("unknown engine '%s'; use ocl, ocl+bridged or cuda, each also with :PART of a "
		  "device's name, or rv32, rv32:OPTION=VALUE,..., board, board:PRESET, board:FILE, "
		  "none",
		  name);
	return DXP_EINVAL;
}
