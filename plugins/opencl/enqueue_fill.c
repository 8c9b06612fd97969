/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements filling of buffers. */
#include "plugins/opencl/memory.h"

static cl_int fill_buffer(struct command *c, cl_mem m, const void *pattern, size_t pattern_size,
			  size_t offset, size_t size)
{
	uint64_t at = offset;

	cl_int error = memory_check_buffer(m, c->e.queue);
	if (error)
		return error;
	if (offset > m->bytes || size > m->bytes - offset)
		return CL_INVALID_VALUE;
	if (!pattern || !pattern_size || pattern_size > DXP_PATTERN_MAX ||
	    (pattern_size & (pattern_size - 1)))
		return CL_INVALID_VALUE;
	if (offset % pattern_size || size % pattern_size)
		return CL_INVALID_VALUE;
	error = enqueue_hold(&c->e, m);
	if (error || !size)
		return error;
	cl_mem root = memory_root(m, &at);
	const struct dxp_box line = {size, 1, 1, size, size, size, size};
	return transfer_fill(c, root, at, &line, pattern, (uint32_t)pattern_size);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueFillBuffer(cl_command_queue queue, cl_mem m,
							const void *pattern, size_t pattern_size,
							size_t offset, size_t size, cl_uint count,
							const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_FILL_BUFFER, false, count, list);
	if (error)
		return error;
	error = fill_buffer(&c, m, pattern, pattern_size, offset, size);
	return command_end(&c, error, false, event);
}
