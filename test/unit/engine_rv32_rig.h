/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of `rv32`: an engine with its own memory and cache folder. */
#ifndef TEST_ENGINE_RV32_RIG_H
#define TEST_ENGINE_RV32_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/scratch.h"
#include "base/util.h"
#include "engine/engine.h"
#include "engine/rv32_clang.h"

#define RIG_BYTES (1u << 20)

static struct engine *engine;
static uint8_t *memory;
static char text[ENGINE_TEXT_BYTES];
static char cache_folder[] = "/tmp/dxp-test-rv32-XXXXXX";

static inline int rig_open(const char *name)
{
	const struct engine_options options = {.name = name,
					       .cache_folder = cache_folder,
					       .memory = memory,
					       .memory_bytes = RIG_BYTES};

	return engine_open(&options, &engine);
}

/* Returns 0, or main's exit status if the test cannot run. */
static inline int rig_begin(const char *name)
{
	if (!rv32_clang_there()) {
		printf("skipped: no clang-15 or libclc here; apt install clang-15 libclc-15 "
		       "libclc-15-dev\n");
		return 77;
	}
	memory = aligned_alloc(4096, RIG_BYTES);
	if (!memory || !mkdtemp(cache_folder) || rig_open(name) != DXP_OK)
		return 1;
	memset(memory, 0, RIG_BYTES);
	return 0;
}

static inline void rig_end(void)
{
	engine_close(engine);
	scratch_folder_remove(cache_folder);
	free(memory);
}

static inline int rig_build(const char *source, const char *options, struct engine_program **out,
			    char **log)
{
	const struct engine_file file = {.data = source, .bytes = strlen(source)};
	const struct engine_source s = {.options = options, .files = &file, .file_count = 1};

	return engine_build(engine, &s, out, log);
}

static inline struct engine_program *rig_program(const char *source)
{
	struct engine_program *p = NULL;
	char *log = NULL;

	if (rig_build(source, "", &p, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	return p;
}

static inline struct engine_argument rig_buffer(uint64_t offset, uint64_t bytes)
{
	return (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
					.memory = memory + offset,
					.address = offset,
					.memory_bytes = bytes};
}

static inline struct engine_argument rig_value(const void *value, uint32_t bytes)
{
	return (struct engine_argument){.kind = COMMAND_ARG_BYTES, .value = value, .bytes = bytes};
}

static inline struct engine_argument rig_local(uint32_t bytes)
{
	return (struct engine_argument){.kind = COMMAND_ARG_LOCAL, .bytes = bytes};
}

/* One dimension; the only argument is all of memory. */
static inline struct engine_launch rig_launch(struct engine_program *p, const char *kernel,
					      uint64_t global, uint64_t local)
{
	struct engine_launch l = {.program = p,
				  .kernel = kernel,
				  .dimensions = 1,
				  .global = {global, 1, 1},
				  .local = {local, local ? 1 : 0, local ? 1 : 0},
				  .argument_count = 1};

	l.arguments[0] = rig_buffer(0, RIG_BYTES);
	return l;
}

static inline int rig_run(const struct engine_launch *l)
{
	text[0] = '\0';
	return engine_run(engine, l, text);
}

static inline void rig_good(const struct engine_launch *l)
{
	if (rig_run(l) != DXP_OK)
		fail_msg("%s", text);
}

static inline uint32_t rig_word(uint32_t i)
{
	uint32_t word;

	memcpy(&word, memory + 4 * i, sizeof(word));
	return word;
}

#endif
