/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an OpenCL engine over the test's memory, with its own cache folder; each test program is
 * one process. */
#ifndef TEST_OCL_RIG_H
#define TEST_OCL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/about.h>
#include <dxp/status.h>

#include "base/util.h"
#include "xpu/arena.h"
#include "engine/engine.h"

#define RIG_BYTES (4u << 20)

static struct arena *arena;
static struct engine *engine;
static char text[ENGINE_TEXT_BYTES];
static char cache_folder[] = "/tmp/dxp-test-cache-XXXXXX";

static inline int rig_engine(void)
{
	const struct engine_options options = {.name = "ocl",
					       .cache_folder = cache_folder,
					       .memory = arena_base(arena),
					       .memory_bytes = RIG_BYTES};

	return engine_open(&options, &engine);
}

static inline int rig_open(void)
{
	if (!mkdtemp(cache_folder) || arena_create(RIG_BYTES, &arena) != DXP_OK)
		return 1;
	setenv("POCL_CACHE_DIR", cache_folder, 1);
	if (rig_engine() == DXP_OK)
		return 0;
	printf("skipped: no OpenCL device that works in host memory\n");
	return 77;
}

static inline void rig_close(void)
{
	char command[128];

	engine_close(engine);
	arena_destroy(arena);
	snprintf(command, sizeof(command), "rm -rf %s", cache_folder);
	if (system(command) != 0)
		printf("%s stays\n", cache_folder);
}

static inline uint8_t *rig_memory(uint64_t address)
{
	return arena_base(arena) + address;
}

static inline struct engine_argument rig_buffer(uint64_t address, uint64_t bytes)
{
	return (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
					.memory = rig_memory(address),
					.address = address,
					.memory_bytes = bytes};
}

/* The caller frees *log, the compiler's text. */
static inline int rig_build_log(uint8_t kind, const char *options, const struct engine_file *files,
				uint32_t count, struct engine_program **out, char **log)
{
	const struct engine_source s = {
		.kind = kind, .options = options, .files = files, .file_count = count};

	*log = NULL;
	return engine_build(engine, &s, out, log);
}

static inline struct engine_program *rig_build(uint8_t kind, const char *options, const char *what)
{
	const struct engine_file file = {.data = what, .bytes = strlen(what)};
	struct engine_program *p;
	char *log;

	if (rig_build_log(kind, options, &file, 1, &p, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	return p;
}

static inline struct engine_launch rig_launch(struct engine_program *p, const char *kernel)
{
	return (struct engine_launch){
		.program = p, .kernel = kernel, .dimensions = 1, .global = {1, 1, 1}};
}

static inline void rig_run(const struct engine_launch *l)
{
	if (engine_run(engine, l, text) != DXP_OK)
		fail_msg("%s: %s", l->kernel, text);
}

#endif
