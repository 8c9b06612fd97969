/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY and FILL in the memory of a CUDA device, on the stream of its kernels. */
#include <dxp/status.h>

#include "base/util.h"
#include "engine/cuda_engine.h"

static int cuda_put(void *context, uint64_t to, const void *data, uint64_t bytes)
{
	struct engine_cuda *c = context;

	c->engine.native = c->cu->cuMemcpyHtoDAsync_v2(c->memory + to, data, bytes, c->stream);
	return cuda_check(c, c->engine.native);
}

static int cuda_move(void *context, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct engine_cuda *c = context;

	c->engine.native =
		c->cu->cuMemcpyDtoDAsync_v2(c->memory + to, c->memory + from, bytes, c->stream);
	return cuda_check(c, c->engine.native);
}

int cuda_edit(struct engine *e, const struct engine_edit *edit)
{
	struct engine_cuda *c = CONTAINER_OF(e, struct engine_cuda, engine);
	const struct engine_mover m = {cuda_put, cuda_move, c};
	struct engine_edit inside = *edit;

	inside.memory_bytes = c->memory_bytes;
	if (cuda_enter(c, NULL) != DXP_OK)
		return DXP_EDEVICE;
	int status = engine_edit_by(&inside, &m);
	/* Waits for the stream, because the driver may read the caller's data until then. */
	int error = c->cu->cuStreamSynchronize(c->stream), end = cuda_check(c, error);
	if (status == DXP_OK)
		e->native = error;
	return status == DXP_EINVAL || status == DXP_ERANGE ? status
	       : status != DXP_OK || end != DXP_OK          ? DXP_EDEVICE
							    : DXP_OK;
}
