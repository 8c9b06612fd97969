/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements cl_dxp_transfer: transfers between two xPUs that the host starts. */
#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

struct transfer_command {
	cl_mem src, dst;
	cl_device_id to;
	uint64_t src_offset, dst_offset, bytes;
};

static bool overlaps(const struct transfer_command *t)
{
	uint64_t from = t->src_offset, to = t->dst_offset;

	return memory_root(t->src, &from) == memory_root(t->dst, &to) && from < to + t->bytes &&
	       to < from + t->bytes;
}

static cl_int check(const struct transfer_command *t, cl_command_queue q)
{
	cl_int error = memory_check_buffer(t->src, q);

	if (error == CL_SUCCESS)
		error = memory_check_buffer(t->dst, q);
	if (error != CL_SUCCESS)
		return error;
	if (!object_is(t->to, OBJECT_DEVICE) || !context_has(q->context, t->to))
		return CL_INVALID_DEVICE;
	if (t->bytes == 0 || t->src_offset > t->src->bytes || t->dst_offset > t->dst->bytes ||
	    t->bytes > t->src->bytes - t->src_offset || t->bytes > t->dst->bytes - t->dst_offset)
		return CL_INVALID_VALUE;
	return overlaps(t) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
}

/* Prepares the memory on the destination device; the command belongs to a queue of the source
 * device. */
static cl_int target_ready(struct enqueue *e, const struct transfer_command *t, uint64_t *address)
{
	cl_device_id from = e->device;
	cl_int error = device_connect(t->to);

	if (error != CL_SUCCESS)
		return error;
	e->device = t->to;
	error = memory_ready(e, t->dst, t->dst_offset, t->bytes, MEMORY_WRITE, address);
	e->device = from;
	return error;
}

static int send(struct enqueue *e, const struct transfer_command *t, uint64_t from, uint64_t to,
		dxp_event *event)
{
	if (t->to == e->device) {
		const struct dxp_rect rect = {.row_bytes = t->bytes, .rows = 1, .slices = 1};
		return dxp_copy(e->device->xpu, from, to, &rect, &e->waits, event);
	}
	const struct dxp_transfer transfer = {.from_address = from,
					      .to_address = to,
					      .bytes = t->bytes,
					      .wait = e->waits.events,
					      .wait_count = e->waits.count};
	return dxp_send(e->device->xpu, t->to->xpu, &transfer, event);
}

static cl_int post(struct enqueue *e, const struct transfer_command *t, dxp_event *event)
{
	cl_device_id from = e->device;
	uint64_t source = 0, target = 0;
	cl_int error = target_ready(e, t, &target);
	uint32_t to_generation = t->to->generation;

	if (error == CL_SUCCESS)
		error = memory_ready(e, t->src, t->src_offset, t->bytes, MEMORY_READ, &source);
	if (error != CL_SUCCESS)
		return error;
	/* While the memory of the source was prepared, the destination may have been found lost. */
	if (!from->xpu || !t->to->xpu || to_generation != t->to->generation)
		return CL_DEVICE_NOT_AVAILABLE;
	int status = send(e, t, source, target, event);
	if (status != DXP_OK)
		return device_judge(from, status);
	e->event->bytes = t->bytes;
	trace_moved(from, t->to, t->bytes);
	memory_used(e, t->src, t->src_offset, t->bytes, MEMORY_READ, *event);
	e->device = t->to;
	memory_used(e, t->dst, t->dst_offset, t->bytes, MEMORY_WRITE, *event);
	e->device = from;
	return CL_SUCCESS;
}

cl_int CL_API_CALL dxp_clEnqueueTransferBufferDXP(cl_command_queue queue, cl_mem src, cl_mem dst,
						  cl_device_id dst_device, size_t src_offset,
						  size_t dst_offset, size_t size,
						  cl_uint wait_count, const cl_event *wait,
						  cl_event *event)
{
	const struct transfer_command t = {src, dst, dst_device, src_offset, dst_offset, size};
	struct enqueue e;
	dxp_event source = 0;
	cl_int error = enqueue_begin(&e, queue, CL_COMMAND_TRANSFER_BUFFER_DXP, wait_count, wait);

	if (error != CL_SUCCESS)
		return error;
	error = check(&t, queue);
	if (error == CL_SUCCESS)
		error = post(&e, &t, &source);
	return enqueue_end(&e, error, source, false, event);
}
