/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that read, write, copy and fill ranges of buffers. */
#include "plugins/opencl/memory/memory.h"

/* An empty range is valid: OpenCL allows size 0 since 2.1. */
static bool inside(cl_mem m, uint64_t offset, uint64_t bytes)
{
	return offset <= m->bytes && bytes <= m->bytes - offset;
}

static cl_int read_buffer(struct command *c, cl_mem m, size_t offset, size_t size, void *to)
{
	uint64_t at = offset;

	cl_int error = memory_check_buffer(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (!to || !inside(m, offset, size))
		return CL_INVALID_VALUE;
	if (m->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))
		return CL_INVALID_OPERATION;
	error = enqueue_hold(&c->e, m);
	if (error != CL_SUCCESS || !size)
		return error;
	c->to = to;
	c->to_bytes = size;
	cl_mem root = memory_root(m, &at);
	return transfer_read(c, root, at, to, size);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueReadBuffer(cl_command_queue queue, cl_mem m,
							cl_bool blocking, size_t offset,
							size_t size, void *to, cl_uint count,
							const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_READ_BUFFER, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = read_buffer(&c, m, offset, size, to);
	return command_end(&c, error, blocking, event);
}

static cl_int write_buffer(struct command *c, cl_mem m, size_t offset, size_t size,
			   const void *from)
{
	uint64_t at = offset;

	cl_int error = memory_check_buffer(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (!from || !inside(m, offset, size))
		return CL_INVALID_VALUE;
	if (m->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))
		return CL_INVALID_OPERATION;
	error = enqueue_hold(&c->e, m);
	if (error != CL_SUCCESS || !size)
		return error;
	cl_mem root = memory_root(m, &at);
	return transfer_write(c, root, at, from, size);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem m,
							 cl_bool blocking, size_t offset,
							 size_t size, const void *from,
							 cl_uint count, const cl_event *list,
							 cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_WRITE_BUFFER, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = write_buffer(&c, m, offset, size, from);
	return command_end(&c, error, blocking, event);
}

static cl_int copy_buffer(struct command *c, cl_mem from, cl_mem to, size_t from_offset,
			  size_t to_offset, size_t size)
{
	uint64_t from_at = from_offset, to_at = to_offset;

	cl_int error = memory_check_buffer(from, c->e.queue);
	if (error == CL_SUCCESS)
		error = memory_check_buffer(to, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (!inside(from, from_offset, size) || !inside(to, to_offset, size))
		return CL_INVALID_VALUE;
	cl_mem from_root = memory_root(from, &from_at), to_root = memory_root(to, &to_at);
	if (size && from_root == to_root && from_at < to_at + size && to_at < from_at + size)
		return CL_MEM_COPY_OVERLAP;
	error = enqueue_hold(&c->e, from);
	if (error == CL_SUCCESS)
		error = enqueue_hold(&c->e, to);
	if (error != CL_SUCCESS || !size)
		return error;
	return transfer_copy(c, from_root, from_at, to_root, to_at, size);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from,
							cl_mem to, size_t from_offset,
							size_t to_offset, size_t size,
							cl_uint count, const cl_event *list,
							cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_COPY_BUFFER, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = copy_buffer(&c, from, to, from_offset, to_offset, size);
	return command_end(&c, error, false, event);
}

static cl_int fill_buffer(struct command *c, cl_mem m, const void *pattern, size_t pattern_size,
			  size_t offset, size_t size)
{
	uint64_t at = offset;

	cl_int error = memory_check_buffer(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (offset > m->bytes || size > m->bytes - offset)
		return CL_INVALID_VALUE;
	if (!pattern || !pattern_size || pattern_size > DXP_PATTERN_MAX ||
	    (pattern_size & (pattern_size - 1)))
		return CL_INVALID_VALUE;
	if (offset % pattern_size || size % pattern_size)
		return CL_INVALID_VALUE;
	error = enqueue_hold(&c->e, m);
	if (error != CL_SUCCESS || !size)
		return error;
	cl_mem root = memory_root(m, &at);
	const struct dxp_rect line = {size, 1, 1, size, size, size, size};
	return transfer_fill(c, root, at, &line, pattern, (uint32_t)pattern_size);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueFillBuffer(cl_command_queue queue, cl_mem m,
							const void *pattern, size_t pattern_size,
							size_t offset, size_t size, cl_uint count,
							const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_FILL_BUFFER, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = fill_buffer(&c, m, pattern, pattern_size, offset, size);
	return command_end(&c, error, false, event);
}
