/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine `rv32`: kernels on a RISC-V SIMT processor in software (src/rv32/), compiled by a
 * clang on this machine. Memory is DIRECT. A kernel reaches only its arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <dxp/status.h>

#include "base/log.h"
#include "engine/rv32_arguments.h"
#include "engine/rv32_engine.h"
#include "engine/rv32_pool.h"
#include "engine/rv32_watch.h"

static int rv32_fetch(struct engine *e, struct engine_program *p, uint8_t what, uint8_t **out,
		      size_t *bytes)
{
	struct engine_rv32 *r = rv32_of(e);
	struct records about = {0};

	if (what == FETCH_BINARY)
		return p ? rv32_program_binary(p, out, bytes) : DXP_EINVAL;
	if (what == FETCH_PROFILE && (!p || !p->image))
		return DXP_EINVAL;
	if (what != FETCH_PROFILE && what != (p ? FETCH_ABOUT : FETCH_DEVICE))
		return DXP_EINVAL;
	if (what == FETCH_PROFILE ? !rv32_watch_profile(p, &about)
	    : p                   ? !rv32_about_program(p, &r->settings, &about)
				  : !rv32_about_device(r, &about)) {
		free(about.data);
		return DXP_ENOMEM;
	}
	*out = about.data;
	*bytes = about.bytes;
	return DXP_OK;
}

/* After a failure, which is logged, the first build tries again. */
static void rv32_warm(struct engine *e)
{
	rv32_clang_ready(&rv32_of(e)->clang);
}

static void rv32_describe(const struct engine *e, struct engine_description *out)
{
	const struct engine_rv32 *r = rv32_of(e);

	*out = (struct engine_description){
		.kind = ENGINE_RV32,
		.name = "rv32",
		.compute_units = r->settings.cores,
		.memory_kind = DXP_MEMORY_DIRECT,
		.reaches_host = true, /* a NIC's window is an argument */
		.plain = true,
	};
	snprintf(out->device, sizeof(out->device), "rv32imaf SIMT, %u core%s of %d lanes",
		 r->settings.cores, r->settings.cores == 1 ? "" : "s", RV32_LANES);
}

static void programs_set(struct engine_rv32 *r, const char *cache)
{
	if (!cache || asprintf(&r->programs, "%s/programs", cache) < 0)
		r->programs = NULL;
}

static void rv32_folders(struct engine *e, const char *work, const char *cache)
{
	struct engine_rv32 *r = rv32_of(e);

	rv32_clang_folder(&r->clang, work);
	free(r->programs);
	programs_set(r, cache);
}

static void rv32_close(struct engine *e)
{
	struct engine_rv32 *r = rv32_of(e);

	if (r->pool)
		rv32_pool_destroy(r->pool);
	rv32_clang_close(&r->clang);
	free(r->programs);
	free(r->values);
	free(r);
}

static const struct engine_ops rv32_ops = {
	.build = rv32_program_build,
	.release = rv32_program_release,
	.run = rv32_run,
	.fetch = rv32_fetch,
	.warm = rv32_warm,
	.folders = rv32_folders,
	.describe = rv32_describe,
	.close = rv32_close,
};

static int parts_open(struct engine_rv32 *r, const struct engine_options *options)
{
	int status = rv32_clang_open(options->cache_folder, &r->clang);

	if (status == DXP_OK)
		status = rv32_pool_create(&r->settings, &r->pool);
	if (status != DXP_OK)
		return status;
	r->values = aligned_alloc(RV32_VALUE_ALIGN,
				  RV32_VALUES_BYTES / RV32_VALUE_ALIGN * RV32_VALUE_ALIGN);
	programs_set(r, options->cache_folder);
	return r->values ? DXP_OK : DXP_ENOMEM;
}

int engine_rv32_open(const struct engine_options *options, const char *settings,
		     struct engine **out)
{
	struct engine_rv32 *r = calloc(1, sizeof(*r));

	if (!r)
		return DXP_ENOMEM;
	r->engine.ops = &rv32_ops;
	r->memory_bytes = options->memory_bytes;
	int status = rv32_settings_read(settings, &r->settings);
	if (status == DXP_OK)
		status = parts_open(r, options);
	if (status != DXP_OK) {
		rv32_close(&r->engine);
		return status;
	}
	*out = &r->engine;
	return DXP_OK;
}
