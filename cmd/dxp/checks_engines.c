/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries each engine that an xPU could use here, with little memory. An engine that does not open
 * logs the reason. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "cmd/dxp/checks.h"
#include "engine/engine.h"
#include "engine/rv32_clang.h"

#define TRIAL_BYTES (1u << 20)

bool checks_engine_try(const char *name, struct engine_description *out)
{
	void *memory = aligned_alloc(4096, TRIAL_BYTES);
	const struct engine_options options = {
		.name = name, .memory = memory, .memory_bytes = TRIAL_BYTES};
	struct engine *e;

	if (!memory || engine_open(&options, &e) != DXP_OK) {
		free(memory);
		return false;
	}
	engine_describe(e, out);
	engine_close(e);
	free(memory);
	return true;
}

const char *checks_memory_kind_text(const struct engine_description *d)
{
	return d->memory_kind == DXP_MEMORY_BRIDGED ? "bridged" : "direct";
}

static void check_engine(struct check *c, const char *engine, const char *next)
{
	struct engine_description d;
	char name[24];

	snprintf(name, sizeof(name), "engine %s", engine);
	if (checks_engine_try(engine, &d))
		check_set(c, CHECK_OK, name, NULL, "%s, %u units, memory %s", d.device,
			  d.compute_units, checks_memory_kind_text(&d));
	else
		check_set(c, CHECK_WARN, name, next, "does not work on this machine");
}

/* Returns whether the driver exists; most machines have none, which is no error. */
static bool cuda_driver_there(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		dlclose(library);
	return library != NULL;
}

unsigned checks_engines(struct check *out)
{
	unsigned count = 0;

	check_engine(&out[count++], "ocl", "apt install pocl-opencl-icd, or use --engine none");
	if (rv32_clang_there())
		check_engine(&out[count++], "rv32", "see the message above");
	else
		check_set(&out[count++], CHECK_OK, "engine rv32", NULL,
			  "no clang-15 and libclc-15, so no xPU with engine rv32");
	check_engine(&out[count++], "board", "see the message above");
	if (cuda_driver_there())
		check_engine(&out[count++], "cuda",
			     "see the message above, and the output of nvidia-smi");
	else
		check_set(&out[count++], CHECK_OK, "engine cuda", NULL,
			  "no NVIDIA driver (libcuda.so.1), so no xPU with engine cuda");
	return count;
}
