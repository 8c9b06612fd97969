/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs kernels on one xPU: one interface, several engines. All calls but engine_open and
 * engine_describe are made by the one thread that owns the engine; engine_run returns when the
 * kernel has ended. Arguments point into device memory: kernels work in place. */
#ifndef XPU_ENGINE_H
#define XPU_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "wire/command.h"

struct engine;
struct engine_program;

enum engine_kind { ENGINE_NONE, ENGINE_OCL };

struct engine_options {
	const char *name;         /* "none", "ocl" or "ocl:PART OF A DEVICE'S NAME" */
	const char *cache_folder; /* for compiled kernels; NULL: the engine's own choice */
	void *memory;             /* device memory, which outlives the engine */
	uint64_t memory_bytes;
};

struct engine_description {
	enum engine_kind kind;
	const char *name;                 /* as in the node table */
	char device[FABRIC_DEVICE_BYTES]; /* what the engine calls its device; "" for none */
	uint32_t compute_units;
	bool reaches_host; /* kernels load and store this process's memory while they run: a NIC's
			      window can be an argument */
};

/* What a kernel gets. */
struct engine_argument {
	uint8_t kind;      /* enum command_argument_kind */
	uint32_t bytes;    /* BYTES, LOCAL */
	const void *value; /* BYTES */
	void *memory;      /* BUFFER: in device memory; NIC: the window */
	uint64_t memory_bytes;
};

struct engine_launch {
	struct engine_program *program;
	const char *kernel;
	uint8_t dimensions;
	uint64_t global[3], local[3]; /* local all 0: the engine chooses */
	uint8_t argument_count;
	struct engine_argument arguments[COMMAND_ARGS_MAX];
};

#define ENGINE_TEXT_BYTES 256

struct engine_source {
	const char *text; /* of `bytes`, not terminated */
	size_t bytes;
	const char *options;
};

/* On DXP_OK *program must be released; *log is for the caller to free, or NULL when there is
 * nothing to say. */
struct engine_ops {
	int (*build)(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log);
	void (*release)(struct engine *e, struct engine_program *program);
	int (*run)(struct engine *e, const struct engine_launch *launch,
		   char text[ENGINE_TEXT_BYTES]);
	void (*describe)(const struct engine *e, struct engine_description *out);
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
};

/* On success *out must be closed. DXP_EINVAL: no engine has that name; DXP_EUNSUPPORTED: there is
 * no such device, or its memory is not ours; DXP_EIO, DXP_ENOMEM. All logged with the next step. */
int engine_open(const struct engine_options *options, struct engine **out);

static inline void engine_close(struct engine *e)
{
	if (e)
		e->ops->close(e);
}

static inline void engine_describe(const struct engine *e, struct engine_description *out)
{
	e->ops->describe(e, out);
}

/* DXP_EBUILD: it does not build, and the log says why; DXP_EUNSUPPORTED, DXP_ENOMEM, DXP_EDEVICE.
 */
static inline int engine_build(struct engine *e, const struct engine_source *source,
			       struct engine_program **program, char **log)
{
	return e->ops->build(e, source, program, log);
}

static inline void engine_release(struct engine *e, struct engine_program *program)
{
	e->ops->release(e, program);
}

/* DXP_EINVAL: kernel, arguments or sizes are not what the program wants; DXP_EDEVICE: it failed
 * while running; DXP_ENOENT: no such kernel. `text` then says what and why. */
static inline int engine_run(struct engine *e, const struct engine_launch *launch,
			     char text[ENGINE_TEXT_BYTES])
{
	return e->ops->run(e, launch, text);
}

/* engine_ocl.c */
int engine_ocl_open(const struct engine_options *options, const char *device, struct engine **out);

#endif
