/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by cuda.c and its parts cuda_dma.c, cuda_program.c, cuda_nvrtc.c, cuda_launch.c.
 *
 * All slots on one device of this process share its primary context. So do their errors: after one
 * that CUDA does not recover from, each of them finds the device dead. */
#ifndef ENGINE_CUDA_ENGINE_H
#define ENGINE_CUDA_ENGINE_H

#include <stdatomic.h>

#include "engine/cuda_library.h"
#include "engine/engine.h"
#include "engine/flight.h"

struct cuda_kernel {
	struct cuda_kernel *next;
	struct cuda_function *function;
	char name[COMMAND_NAME_BYTES];
	uint32_t threads_max; /* of a block */
	uint32_t parameter_count;
	size_t parameter_bytes[COMMAND_ARGS_MAX];
};

struct engine_program {
	struct cuda_module *module;
	struct cuda_kernel *kernels; /* those used so far */
};

struct engine_cuda {
	struct engine engine;
	const struct cuda_library *cu;
	struct cuda_context *context;
	int device;
	char name[FABRIC_DEVICE_BYTES];
	uint32_t processors;
	uint32_t capability; /* 90: 9.0 */
	uint64_t memory, memory_bytes;
	uint64_t bounce;            /* DMA_BOUNCE_BYTES, for copies that overlap */
	struct cuda_stream *stream; /* of kernels */
	struct cuda_stream *streams[FLIGHT_QUEUES];
	struct flights *flights;
	_Atomic int dead; /* the error that CUDA does not recover from; CUDA_OK: none yet */
};

static inline bool cuda_range_fits(const struct engine_cuda *c, uint64_t address, uint64_t bytes)
{
	return bytes > 0 && bytes <= c->memory_bytes && address <= c->memory_bytes - bytes;
}

/* DXP_OK, or the status that `error` is: DXP_EINVAL, DXP_ENOMEM, DXP_EDEVICE. Remembers, and logs
 * once, what kills the device. Any thread. */
int cuda_check(struct engine_cuda *c, int error);
/* Makes the context this thread's. DXP_EDEVICE: the device is dead or lost; `text`, unless NULL,
 * says why. */
int cuda_enter(struct engine_cuda *c, char text[ENGINE_TEXT_BYTES]);

/* cuda_dma.c; as the calls of engine_ops. The streams and flights: logged; the context is this
 * thread's. */
int cuda_dma_create(struct engine_cuda *c, const struct engine_options *options);
/* False: the device may still use what it has. */
bool cuda_dma_destroy(struct engine_cuda *c);
int cuda_pin(struct engine *e, void *base, uint64_t bytes);
void cuda_unpin(struct engine *e, void *base);
int cuda_dma_start(struct engine *e, const struct engine_dma *dma);

/* cuda_program.c; as the calls of engine_ops. */
int cuda_build(struct engine *e, const struct engine_source *source,
	       struct engine_program **program, char **log);
void cuda_release(struct engine *e, struct engine_program *program);
/* DXP_ENOENT, DXP_EINVAL, DXP_EDEVICE: with `text`; DXP_ENOMEM. */
int cuda_kernel_find(struct engine_cuda *c, struct engine_program *p, const char *name,
		     struct cuda_kernel **out, char text[ENGINE_TEXT_BYTES]);
/* Is it PTX? */
bool cuda_source_is_ptx(const char *text, size_t bytes);

/* cuda_nvrtc.c: CUDA C to PTX for compute capability `capability`; *ptx, on DXP_OK, and *log, which
 * may be NULL, are for the caller to free. DXP_EBUILD, DXP_ENOMEM. */
int cuda_compile(const struct engine_source *source, uint32_t capability, char **ptx, char **log);

/* cuda_launch.c; as engine_run. */
/* cuda_edit.c */
int cuda_edit(struct engine *e, const struct engine_edit *edit);

int cuda_run(struct engine *e, const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

#endif
