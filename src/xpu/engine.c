/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines by name, and the engine that is none: an xPU of memory and registers only. */
#include "xpu/engine.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"

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
	snprintf(text, ENGINE_TEXT_BYTES, "this xPU has no engine");
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

int engine_open(const struct engine_options *options, struct engine **out)
{
	const char *name = options->name;

	if (strcmp(name, "none") == 0) {
		*out = &none;
		return DXP_OK;
	}
	if (strcmp(name, "ocl") == 0)
		return engine_ocl_open(options, NULL, out);
	if (strncmp(name, "ocl:", 4) == 0 && name[4] != '\0')
		return engine_ocl_open(options, name + 4, out);
	if (strcmp(name, "board") == 0)
		return engine_board_open(options, NULL, out);
	if (strncmp(name, "board:", 6) == 0 && name[6] != '\0')
		return engine_board_open(options, name + 6, out);
	log_error("no engine is called '%s'; there are ocl, ocl:PART-OF-DEVICE-NAME, board, "
		  "board:PRESET, board:FILE and none",
		  name);
	return DXP_EINVAL;
}

int engine_core_set(struct engine *e, uint32_t core, uint32_t operand)
{
	return e->ops->core_set ? e->ops->core_set(e, core, operand) : DXP_EUNSUPPORTED;
}

void engine_core_get(struct engine *e, uint32_t *core, uint32_t *operand, uint64_t *result)
{
	*core = *operand = 0;
	*result = 0;
	if (e->ops->core_get)
		e->ops->core_get(e, core, operand, result);
}
