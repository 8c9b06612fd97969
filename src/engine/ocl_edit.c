/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY and FILL in BRIDGED memory, on the queue of the kernels. */
#include <dxp/status.h>

#include "base/util.h"
#include "engine/ocl_engine.h"

static int bridge_put(void *context, uint64_t to, const void *data, uint64_t bytes)
{
	struct engine_ocl *o = context;
	const uint8_t *from = data;

	for (uint64_t done = 0; done < bytes;) {
		struct ocl_range p = ocl_memory_range(&o->bridge->memory, to + done, bytes - done);
		o->engine.native = o->cl->clEnqueueWriteBuffer(
			o->queue, p.chunk, CL_FALSE, p.offset, p.bytes, from + done, 0, NULL, NULL);
		if (o->engine.native != CL_SUCCESS)
			return DXP_EDEVICE;
		done += p.bytes;
	}
	return DXP_OK;
}

static int bridge_move(void *context, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct engine_ocl *o = context;

	for (uint64_t done = 0; done < bytes;) {
		struct ocl_range a =
			ocl_memory_range(&o->bridge->memory, from + done, bytes - done);
		struct ocl_range b = ocl_memory_range(&o->bridge->memory, to + done, a.bytes);
		o->engine.native = o->cl->clEnqueueCopyBuffer(o->queue, a.chunk, b.chunk, a.offset,
							      b.offset, b.bytes, 0, NULL, NULL);
		if (o->engine.native != CL_SUCCESS)
			return DXP_EDEVICE;
		done += b.bytes;
	}
	return DXP_OK;
}

int ocl_edit(struct engine *e, const struct engine_edit *edit)
{
	struct engine_ocl *o = CONTAINER_OF(e, struct engine_ocl, engine);
	const struct engine_mover m = {bridge_put, bridge_move, o};
	struct engine_edit inside = *edit;

	inside.memory_bytes = o->bridge->memory.bytes;
	if (flights_lost(o->bridge->flights))
		return DXP_EDEVICE;
	int status = engine_edit_by(&inside, &m);
	/* Waits for the queue, because the driver may read the caller's data until then. */
	cl_int end = o->cl->clFinish(o->queue);
	if (status != DXP_OK || end == CL_SUCCESS)
		return status;
	e->native = end;
	return DXP_EDEVICE;
}
