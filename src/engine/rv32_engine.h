/* SPDX-License-Identifier: BSD-3-Clause */
/* State and functions for the files of engine `rv32`. */
#ifndef ENGINE_RV32_ENGINE_H
#define ENGINE_RV32_ENGINE_H

#include <stdbool.h>

#include "engine/engine.h"
#include "engine/ocl_pack.h"
#include "engine/records.h"
#include "engine/rv32_clang.h"
#include "rv32/core.h"
#include "rv32/image.h"
#include "rv32/profile.h"
#include "rv32/time.h"

#define RV32_CORES_MAX 64
/* s of a kernel by default: far longer than the tests run */
#define RV32_LIMIT_S   60
#define RV32_CLOCK_MHZ 200 /* by default: the published Vortex configuration */
/* instructions in the log per launch and core: 12 MB of text */
#define RV32_LISTED_MAX 100000
/* bytes: alignment for type long16 */
#define RV32_VALUE_ALIGN 128

struct rv32_settings {
	uint32_t cores;
	/* of a core; the largest work-group has warps * RV32_LANES work-items */
	uint32_t warps;
	uint32_t limit_s;       /* for a kernel; 0: no limit */
	uint32_t private_bytes; /* of a work-item's stack */
	uint32_t clock_mhz;     /* reported to programs */
	uint32_t listed;        /* instructions to log at the start of a launch, per core */
	/* Model of time, whose cycles are logged per launch. NULL: none. */
	const struct rv32_time_parameters *time;
	enum rv32_build build;
};

struct rv32_pool;

struct engine_rv32 {
	struct engine engine;
	struct rv32_settings settings;
	struct rv32_clang clang;
	struct rv32_pool *pool;
	char *programs;                /* folder of built programs; NULL: none */
	uint64_t memory_bytes;         /* device memory */
	uint8_t *values;               /* argument table and values of the running launch */
	struct rv32_counters counters; /* of the last launch, for measurements */
};

/* `objects`: for each, its length as u32, then its bytes. */
struct engine_program {
	uint8_t key[OCL_KEY_BYTES];
	uint32_t type; /* cl_program_binary_type */
	uint8_t *objects;
	size_t objects_bytes;
	struct rv32_image *image; /* EXECUTABLE */
	/* decoded per core at its first use */
	struct rv32_code *codes[RV32_CORES_MAX];
	bool profiled;     /* launches are counted for a profile */
	uint64_t launches; /* counted */
	/* per core, by instruction of the image; NULL: none yet */
	struct rv32_count *counts[RV32_CORES_MAX];
};

/* rv32_settings.c. Such as "cores=2,limit=10"; NULL: defaults. DXP_EINVAL: logged. */
int rv32_settings_read(const char *text, struct rv32_settings *out);

/* rv32_build.c. Implement engine_build() and engine_release(); the binary. */
int rv32_program_build(struct engine *e, const struct engine_source *source,
		       struct engine_program **program, char **log);
void rv32_program_release(struct engine *e, struct engine_program *program);
int rv32_program_binary(struct engine_program *program, uint8_t **out, size_t *bytes);

/* rv32_about.c. Records of dxp/about.h. False: out of memory. */
bool rv32_about_program(const struct engine_program *program, const struct rv32_settings *settings,
			struct records *out);
bool rv32_about_device(const struct engine_rv32 *r, struct records *out);

/* rv32_launch.c: engine_ops.run. */
int rv32_run(struct engine *e, const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

static inline struct engine_rv32 *rv32_of(const struct engine *e)
{
	return (struct engine_rv32 *)(uintptr_t)e; /* `engine` is the first member */
}

#endif
