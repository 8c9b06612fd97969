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
	*out = (struct engine_description){.kind = ENGINE_NONE, .name = "none"};
}

static void none_close(struct engine *e)
{
}

static const struct engine_ops none_ops = {none_build, none_release, none_run, none_describe,
					   none_close};
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
	log_error("no engine is called '%s'; there are ocl, ocl:PART-OF-DEVICE-NAME and none",
		  name);
	return DXP_EINVAL;
}
