/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between the files of engine `cuda`.
 *
 *  All slots of this process share a device's primary context. An unrecoverable CUDA error makes it
 *  dead for all of them. */
#ifndef ENGINE_CUDA_ENGINE_H
#define ENGINE_CUDA_ENGINE_H

#include <stdatomic.h>

#include "engine/cuda_library.h"
#include "engine/engine.h"
#include "engine/flight.h"
#include "wire/limits.h"

struct cuda_kernel {
	struct cuda_kernel *next;
	struct cuda_function *function;
	char name[COMMAND_NAME_BYTES];
	uint32_t threads_max; /* threads of one block */
	uint32_t parameter_count;
	size_t parameter_bytes[COMMAND_ARGS_MAX];
};

struct engine_program {
	struct cuda_module *module;
	struct cuda_kernel *kernels; /* launched so far */
};

struct engine_cuda {
	struct engine engine;
	const struct cuda_library *cu;
	struct cuda_context *context;
	int device;
	char name[FABRIC_DEVICE_BYTES];
	uint32_t processors;
	uint32_t capability; /* times 10: 90 is 9.0 */
	bool maps_host;      /* kernels can access mapped host memory */
	uint64_t memory, memory_bytes;
	uint64_t bounce; /* device address of FLIGHT_BOUNCE_BYTES for overlapping copies */
	struct cuda_stream *stream; /* for kernels */
	struct cuda_stream *streams[FLIGHT_QUEUES];
	struct flights *flights;
	_Atomic int dead; /* unrecoverable CUDA error; CUDA_OK: none */
};

static inline bool cuda_range_fits(const struct engine_cuda *c, uint64_t address, uint64_t bytes)
{
	return bytes > 0 && bytes <= c->memory_bytes && address <= c->memory_bytes - bytes;
}

/* cuda_error.c */
/* Converts `error` to DXP_OK, DXP_EINVAL, DXP_ENOMEM or DXP_EDEVICE; logs once if it makes the
 * device dead. Any thread. */
int cuda_check(struct engine_cuda *c, int error);
/* Makes the context current. DXP_EDEVICE: the device is dead or lost, with `text` unless it is
 * NULL. */
int cuda_enter(struct engine_cuda *c, char text[ENGINE_TEXT_BYTES]);

/* cuda_dma.c. Logs errors. The context must be current. */
int cuda_dma_create(struct engine_cuda *c, const struct engine_options *options);
/* False: the device may still use memory of the streams and flights. */
bool cuda_dma_destroy(struct engine_cuda *c);
int cuda_pin(struct engine *e, void *base, uint64_t bytes);
void cuda_unpin(struct engine *e, void *base);
int cuda_dma_start(struct engine *e, const struct engine_dma *dma);

/* cuda_program.c. Implement engine_build() and engine_release(). */
int cuda_build(struct engine *e, const struct engine_source *source,
	       struct engine_program **program, char **log);
void cuda_release(struct engine *e, struct engine_program *program);
/* Loads the kernel at first use. DXP_ENOENT, DXP_EINVAL, DXP_EDEVICE: with `text`; DXP_ENOMEM. */
int cuda_kernel_find(struct engine_cuda *c, struct engine_program *p, const char *name,
		     struct cuda_kernel **out, char text[ENGINE_TEXT_BYTES]);
bool cuda_source_is_ptx(const char *text, size_t bytes);

/* cuda_nvrtc.c. Compiles CUDA C to PTX. The caller frees *ptx after DXP_OK, and always *log, which
 * may be NULL. DXP_EBUILD, DXP_ENOMEM. */
int cuda_compile(const struct engine_source *source, uint32_t capability, char **ptx, char **log);

/* cuda_window.c. A kernel accesses a NIC's window, which is host memory, at the device address
 * *pointer. Unmap it when the kernel has ended: the same address range may get another window. */
int cuda_window_map(struct engine_cuda *c, void *window, uint64_t bytes, uint64_t *pointer,
		    char text[ENGINE_TEXT_BYTES]);
void cuda_window_unmap(struct engine_cuda *c, void *window);

/* cuda_edit.c, cuda_launch.c. Implement engine_edit() and engine_run(). */
int cuda_edit(struct engine *e, const struct engine_edit *edit);

int cuda_run(struct engine *e, const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

#endif
