/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches a kernel. Checks the arguments, because the driver does not. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/cuda_engine.h"

#define BLOCK_THREADS 256u /* threads of a block by default: hides memory latency */
/* limits of blocks (CUDA C++ Programming Guide, "Technical Specifications") */
#define GRID_X_MAX  0x7fffffffu
#define GRID_YZ_MAX 65535u
/* bytes of shared memory without a permission for more */
#define SHARED_FREE (48u << 10)

struct shape {
	unsigned grid[3], block[3];
};

struct parameters {
	void *at[COMMAND_ARGS_MAX];
	uint64_t pointers[COMMAND_ARGS_MAX]; /* device addresses of buffers */
	uint32_t count;
	uint32_t shared_bytes;
	bool shared;
	void *window; /* of the NIC, mapped for this launch; NULL: none */
	uint64_t window_pointer;
};

static struct engine_cuda *cuda_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_cuda, engine);
}

/* Largest divisor of `size` up to `most`. */
static unsigned divisor(uint64_t size, unsigned most)
{
	unsigned d = most;

	while (size % d != 0)
		d--;
	return d;
}

static void block_choose(const struct cuda_kernel *k, const struct engine_launch *l,
			 uint64_t block[3])
{
	unsigned left = (unsigned)clamp_u64(k->threads_max, 1, BLOCK_THREADS);

	for (int d = 0; d < 3; d++) {
		block[d] = d < l->dimensions ? divisor(l->global[d], left) : 1;
		left /= (unsigned)block[d];
	}
}

static int shape_make(const struct cuda_kernel *k, const struct engine_launch *l, struct shape *out,
		      char text[ENGINE_TEXT_BYTES])
{
	uint64_t block[3] = {1, 1, 1}, threads = 1;
	int status = engine_sizes_check(l, text);

	if (status != DXP_OK)
		return status;
	if (l->local[0] == 0)
		block_choose(k, l, block);
	for (int d = 0; d < 3; d++) {
		uint64_t global = d < l->dimensions ? l->global[d] : 1;
		if (l->local[0] && d < l->dimensions)
			block[d] = l->local[d];
		uint64_t groups = global / block[d];
		threads = block[d] > UINT32_MAX ? UINT64_MAX : threads * block[d];
		if (threads > k->threads_max) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': a group has at most %u work items on this device",
				 k->name, k->threads_max);
			return DXP_EINVAL;
		}
		if (groups > (d == 0 ? GRID_X_MAX : GRID_YZ_MAX)) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': %llu groups in dimension %d, at most %u are "
				 "possible; use a larger local size",
				 k->name, (unsigned long long)groups, d,
				 d == 0 ? GRID_X_MAX : GRID_YZ_MAX);
			return DXP_EINVAL;
		}
		out->grid[d] = (unsigned)groups;
		out->block[d] = (unsigned)block[d];
	}
	return DXP_OK;
}

/* In CUDA, local memory belongs to the launch and is not a kernel parameter. */
static int shared_set(struct parameters *p, const struct engine_argument *a, uint32_t i,
		      char text[ENGINE_TEXT_BYTES])
{
	if (p->shared || a->bytes > INT32_MAX) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: a CUDA kernel has one block of dynamic shared memory, of "
			 "less than 2 GiB; set one local argument for all",
			 i);
		return DXP_EINVAL;
	}
	p->shared = true;
	p->shared_bytes = a->bytes;
	return DXP_OK;
}

static int buffer_set(struct engine_cuda *c, struct parameters *p, const struct engine_argument *a,
		      uint32_t i, char text[ENGINE_TEXT_BYTES])
{
	p->at[p->count] = &p->pointers[p->count];
	p->pointers[p->count] = 0;
	if (a->address == ENGINE_NO_ADDRESS)
		return DXP_OK;
	if (!cuda_range_fits(c, a->address, a->memory_bytes)) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: address %#llx and %llu bytes are not in device memory", i,
			 (unsigned long long)a->address, (unsigned long long)a->memory_bytes);
		return DXP_EINVAL;
	}
	p->pointers[p->count] = c->memory + a->address;
	return DXP_OK;
}

/* All NIC arguments of a launch name one window. */
static int nic_set(struct engine_cuda *c, struct parameters *p, const struct engine_argument *a,
		   uint32_t i, char text[ENGINE_TEXT_BYTES])
{
	if (!c->maps_host) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: kernels on this device cannot use the NIC, which is in the "
			 "host's memory; use SEND from the host",
			 i);
		return DXP_EUNSUPPORTED;
	}
	if (!p->window) {
		int status =
			cuda_window_map(c, a->memory, a->memory_bytes, &p->window_pointer, text);
		if (status != DXP_OK)
			return status;
		p->window = a->memory;
	}
	p->at[p->count] = &p->window_pointer;
	return DXP_OK;
}

static int argument_set(struct engine_cuda *c, const struct cuda_kernel *k, struct parameters *p,
			const struct engine_argument *a, uint32_t i, char text[ENGINE_TEXT_BYTES])
{
	const bool pointer = a->kind == COMMAND_ARG_BUFFER || a->kind == COMMAND_ARG_NIC;
	size_t bytes = pointer ? sizeof(uint64_t) : a->bytes;
	int status = DXP_OK;

	if (a->kind == COMMAND_ARG_LOCAL)
		return shared_set(p, a, i, text);
	if (a->kind == COMMAND_ARG_IMAGE || a->kind == COMMAND_ARG_SAMPLER) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: kernels on this device accept no images; use a buffer", i);
		return DXP_EUNSUPPORTED;
	}
	if (p->count < k->parameter_count && k->parameter_bytes[p->count] != bytes) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: the parameter has %zu bytes, %zu were given",
			 k->name, i, k->parameter_bytes[p->count], bytes);
		return DXP_EINVAL;
	}
	p->at[p->count] = (void *)(uintptr_t)a->value;
	if (a->kind == COMMAND_ARG_BUFFER)
		status = buffer_set(c, p, a, i, text);
	else if (a->kind == COMMAND_ARG_NIC)
		status = nic_set(c, p, a, i, text);
	p->count++;
	return status;
}

static int arguments_set(struct engine_cuda *c, const struct cuda_kernel *k,
			 const struct engine_launch *l, struct parameters *p,
			 char text[ENGINE_TEXT_BYTES])
{
	for (uint32_t i = 0; i < l->argument_count; i++) {
		int status = argument_set(c, k, p, &l->arguments[i], i, text);
		if (status != DXP_OK)
			return status;
	}
	if (p->count == k->parameter_count)
		return DXP_OK;
	snprintf(text, ENGINE_TEXT_BYTES,
		 "kernel '%.80s' has %u parameters, %u were given (local memory is not counted)",
		 k->name, k->parameter_count, p->count);
	return DXP_EINVAL;
}

static int kernel_launch(struct engine_cuda *c, const struct cuda_kernel *k, const struct shape *s,
			 struct parameters *p)
{
	int error = CUDA_OK;

	if (p->shared_bytes > SHARED_FREE)
		error = c->cu->cuFuncSetAttribute(k->function, CUDA_FUNCTION_SHARED_MAX,
						  (int)p->shared_bytes);
	if (error == CUDA_OK)
		error = c->cu->cuLaunchKernel(k->function, s->grid[0], s->grid[1], s->grid[2],
					      s->block[0], s->block[1], s->block[2],
					      p->shared_bytes, c->stream, p->at, NULL);
	return error;
}

/* Runs the kernel and waits for its end. */
static int kernel_run(struct engine_cuda *c, const struct cuda_kernel *k,
		      const struct engine_launch *l, struct parameters *p,
		      char text[ENGINE_TEXT_BYTES])
{
	struct shape shape;
	int status = arguments_set(c, k, l, p, text);

	if (status == DXP_OK)
		status = shape_make(k, l, &shape, text);
	if (status != DXP_OK)
		return status;
	int error = kernel_launch(c, k, &shape, p);
	status = cuda_check(c, error);
	if (error == CUDA_OK) {
		error = c->cu->cuStreamSynchronize(c->stream);
		status = cuda_check(c, error) == DXP_OK ? DXP_OK : DXP_EDEVICE;
	}
	c->engine.native = error;
	if (error != CUDA_OK)
		snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': %.120s (%d)%s", l->kernel,
			 cuda_error_text(c->cu, error), error,
			 cuda_error_sticky(error) ? "; restart the xPU" : "");
	return status == DXP_ENOMEM ? DXP_EDEVICE : status;
}

int cuda_run(struct engine *e, const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	struct engine_cuda *c = cuda_of(e);
	struct parameters p = {.count = 0};
	struct cuda_kernel *k = NULL;
	int status = cuda_enter(c, text);

	if (status == DXP_OK && (l->offset[0] | l->offset[1] | l->offset[2]) != 0) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s': CUDA has no global offset; pass the offset as a value",
			 l->kernel);
		return DXP_EUNSUPPORTED;
	}
	if (status == DXP_OK)
		status = cuda_kernel_find(c, l->program, l->kernel, &k, text);
	if (status == DXP_OK)
		status = kernel_run(c, k, l, &p, text);
	/* If the wait failed, the kernel may still run. Then the window stays mapped. */
	if (p.window && (status == DXP_OK || c->cu->cuStreamSynchronize(c->stream) == CUDA_OK))
		cuda_window_unmap(c, p.window);
	return status;
}
