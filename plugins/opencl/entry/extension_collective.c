/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements cl_dxp_collective: the entry points, which differ only in their arguments. */
#include "plugins/opencl/entry/collective.h"
#include "plugins/opencl/entry/extension.h"

_Static_assert(CL_TYPE_DOUBLE_DXP == DXP_DOUBLE && CL_TYPE_HALF_DXP == DXP_HALF &&
		       CL_REDUCTION_AVERAGE_DXP == DXP_AVERAGE && CL_REDUCTION_MIN_DXP == DXP_MIN,
	       "they have the numbers of dxp/collective.h");

#define WAY_SHIFT 8
_Static_assert(CL_WAY_RING_DXP == DXP_WAY_RING << WAY_SHIFT &&
		       CL_WAY_TREE_DXP == DXP_WAY_TREE << WAY_SHIFT &&
		       CL_WAY_SWITCH_DXP == DXP_WAY_SWITCH << WAY_SHIFT,
	       "a way is an enum dxp_way above the reduction");

static cl_int enqueue(struct collective *c, cl_command_queue queue, cl_uint wait_count,
		      const cl_event *wait, cl_event *event)
{
	struct enqueue e;
	dxp_event source = 0;
	cl_int error = enqueue_begin(&e, queue, c->operation->type, wait_count, wait);

	if (error != CL_SUCCESS)
		return error;
	error = collective_check(c, queue);
	if (error == CL_SUCCESS)
		error = collective_post(&e, c, &source);
	return enqueue_end(&e, error, source, false, event);
}

cl_int CL_API_CALL dxp_clEnqueueAllreduceDXP(cl_command_queue queue, cl_uint num_devices,
					     const cl_device_id *devices, const cl_mem *src,
					     const cl_mem *dst, size_t src_offset,
					     size_t dst_offset, size_t count, cl_uint type,
					     cl_uint reduction, cl_uint wait_count,
					     const cl_event *wait, cl_event *event)
{
	static const struct operation allreduce = {CL_COMMAND_ALLREDUCE_DXP, dxp_allreduce_sized,
						   EXTENT_ONE, EXTENT_ONE};
	struct collective c = {.operation = &allreduce,
			       .members = num_devices,
			       .devices = devices,
			       .from = src,
			       .to = dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type,
			       .reduction = reduction & ((1u << WAY_SHIFT) - 1),
			       .way = reduction >> WAY_SHIFT};

	return enqueue(&c, queue, wait_count, wait, event);
}

cl_int CL_API_CALL dxp_clEnqueueReduceDXP(cl_command_queue queue, cl_uint num_devices,
					  const cl_device_id *devices, const cl_mem *src,
					  cl_mem dst, size_t src_offset, size_t dst_offset,
					  size_t count, cl_uint type, cl_uint reduction,
					  cl_uint root, cl_uint wait_count, const cl_event *wait,
					  cl_event *event)
{
	static const struct operation reduce = {CL_COMMAND_REDUCE_DXP, dxp_reduce_sized, EXTENT_ONE,
						EXTENT_ROOT};
	struct collective c = {.operation = &reduce,
			       .members = num_devices,
			       .devices = devices,
			       .from = src,
			       .to = &dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type,
			       .reduction = reduction,
			       .root = root};

	return enqueue(&c, queue, wait_count, wait, event);
}

cl_int CL_API_CALL dxp_clEnqueueReduceScatterDXP(cl_command_queue queue, cl_uint num_devices,
						 const cl_device_id *devices, const cl_mem *src,
						 const cl_mem *dst, size_t src_offset,
						 size_t dst_offset, size_t count, cl_uint type,
						 cl_uint reduction, cl_uint wait_count,
						 const cl_event *wait, cl_event *event)
{
	static const struct operation reduce_scatter = {
		CL_COMMAND_REDUCE_SCATTER_DXP, dxp_reduce_scatter_sized, EXTENT_ALL, EXTENT_ONE};
	struct collective c = {.operation = &reduce_scatter,
			       .members = num_devices,
			       .devices = devices,
			       .from = src,
			       .to = dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type,
			       .reduction = reduction};

	return enqueue(&c, queue, wait_count, wait, event);
}

cl_int CL_API_CALL dxp_clEnqueueAllGatherDXP(cl_command_queue queue, cl_uint num_devices,
					     const cl_device_id *devices, const cl_mem *src,
					     const cl_mem *dst, size_t src_offset,
					     size_t dst_offset, size_t count, cl_uint type,
					     cl_uint wait_count, const cl_event *wait,
					     cl_event *event)
{
	static const struct operation all_gather = {CL_COMMAND_ALL_GATHER_DXP, dxp_all_gather_sized,
						    EXTENT_ONE, EXTENT_ALL};
	struct collective c = {.operation = &all_gather,
			       .members = num_devices,
			       .devices = devices,
			       .from = src,
			       .to = dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type};

	return enqueue(&c, queue, wait_count, wait, event);
}

cl_int CL_API_CALL dxp_clEnqueueBroadcastDXP(cl_command_queue queue, cl_uint num_devices,
					     const cl_device_id *devices, cl_mem src,
					     const cl_mem *dst, size_t src_offset,
					     size_t dst_offset, size_t count, cl_uint type,
					     cl_uint root, cl_uint wait_count, const cl_event *wait,
					     cl_event *event)
{
	static const struct operation broadcast = {CL_COMMAND_BROADCAST_DXP, dxp_broadcast_sized,
						   EXTENT_ROOT, EXTENT_ONE};
	struct collective c = {.operation = &broadcast,
			       .members = num_devices,
			       .devices = devices,
			       .from = &src,
			       .to = dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type,
			       .root = root};

	return enqueue(&c, queue, wait_count, wait, event);
}

cl_int CL_API_CALL dxp_clEnqueueAllToAllDXP(cl_command_queue queue, cl_uint num_devices,
					    const cl_device_id *devices, const cl_mem *src,
					    const cl_mem *dst, size_t src_offset, size_t dst_offset,
					    size_t count, cl_uint type, cl_uint wait_count,
					    const cl_event *wait, cl_event *event)
{
	static const struct operation all_to_all = {CL_COMMAND_ALL_TO_ALL_DXP, dxp_all_to_all_sized,
						    EXTENT_ALL, EXTENT_ALL};
	struct collective c = {.operation = &all_to_all,
			       .members = num_devices,
			       .devices = devices,
			       .from = src,
			       .to = dst,
			       .from_offset = src_offset,
			       .to_offset = dst_offset,
			       .count = count,
			       .type = type};

	return enqueue(&c, queue, wait_count, wait, event);
}
