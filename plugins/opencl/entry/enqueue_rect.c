/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that read, write and copy rectangles of buffers. */
#include "plugins/opencl/memory/memory.h"

/* Source or destination of a rectangle, in bytes. */
struct side {
	uint64_t at, row_pitch, slice_pitch;
	uint64_t end; /* offset after the last byte */
};

/* A pitch of 0 means no gaps. CL_INVALID_VALUE: a pitch is too small for the region, or a size
 * exceeds 64 bits. */
static cl_int side_make(const size_t *origin, const size_t *region, size_t row_pitch,
			size_t slice_pitch, struct side *s)
{
	uint64_t least, x, y, z, last;

	if (!row_pitch)
		row_pitch = region[0];
	if (row_pitch < region[0] || __builtin_mul_overflow(row_pitch, region[1], &least))
		return CL_INVALID_VALUE;
	if (!slice_pitch)
		slice_pitch = least;
	if (slice_pitch < least || slice_pitch % row_pitch)
		return CL_INVALID_VALUE;
	x = origin[0];
	if (__builtin_mul_overflow(origin[1], row_pitch, &y) ||
	    __builtin_mul_overflow(origin[2], slice_pitch, &z) ||
	    __builtin_add_overflow(x, y, &s->at) || __builtin_add_overflow(s->at, z, &s->at))
		return CL_INVALID_VALUE;
	if (__builtin_mul_overflow(region[2] - 1, slice_pitch, &last) ||
	    __builtin_add_overflow(last, (region[1] - 1) * row_pitch, &last) ||
	    __builtin_add_overflow(last, region[0], &last) ||
	    __builtin_add_overflow(last, s->at, &s->end))
		return CL_INVALID_VALUE;
	s->row_pitch = row_pitch;
	s->slice_pitch = slice_pitch;
	return CL_SUCCESS;
}

static bool region_valid(const size_t *region)
{
	return region && region[0] && region[1] && region[2];
}

static struct dxp_rect rect_of(const size_t *region, const struct side *from, const struct side *to)
{
	return (struct dxp_rect){
		.row_bytes = region[0],
		.rows = region[1],
		.slices = region[2],
		.from_row_pitch = from->row_pitch,
		.from_slice_pitch = from->slice_pitch,
		.to_row_pitch = to->row_pitch,
		.to_slice_pitch = to->slice_pitch,
	};
}

/* Parameters of a call that transfers between a buffer and host memory. */
struct rect {
	const size_t *buffer_origin, *host_origin, *region;
	size_t buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch;
	struct side buffer, host;
};

static cl_int rect_check(struct command *c, cl_mem m, struct rect *r, const void *host,
			 cl_mem_flags rejected)
{
	cl_int error = memory_check_buffer(m, c->e.queue);

	if (error != CL_SUCCESS)
		return error;
	if (!host || !r->buffer_origin || !r->host_origin || !region_valid(r->region))
		return CL_INVALID_VALUE;
	error = side_make(r->buffer_origin, r->region, r->buffer_row_pitch, r->buffer_slice_pitch,
			  &r->buffer);
	if (error == CL_SUCCESS)
		error = side_make(r->host_origin, r->region, r->host_row_pitch, r->host_slice_pitch,
				  &r->host);
	if (error != CL_SUCCESS)
		return error;
	if (r->buffer.end > m->bytes)
		return CL_INVALID_VALUE;
	if (m->flags & (rejected | CL_MEM_HOST_NO_ACCESS))
		return CL_INVALID_OPERATION;
	return enqueue_hold(&c->e, m);
}

static cl_int read_rect(struct command *c, cl_mem m, struct rect *r, void *to)
{
	cl_int error = rect_check(c, m, r, to, CL_MEM_HOST_WRITE_ONLY);

	if (error != CL_SUCCESS)
		return error;
	const struct dxp_rect rect = rect_of(r->region, &r->buffer, &r->host);
	uint64_t at = r->buffer.at;
	cl_mem root = memory_root(m, &at);
	uint8_t *first = (uint8_t *)to + r->host.at;
	c->to = first;
	c->to_bytes = r->host.end - r->host.at;
	return transfer_read_rect(c, root, at, first, &rect);
}

static cl_int write_rect(struct command *c, cl_mem m, struct rect *r, const void *from)
{
	cl_int error = rect_check(c, m, r, from, CL_MEM_HOST_READ_ONLY);

	if (error != CL_SUCCESS)
		return error;
	const struct dxp_rect rect = rect_of(r->region, &r->host, &r->buffer);
	uint64_t at = r->buffer.at;
	cl_mem root = memory_root(m, &at);
	return transfer_write_rect(c, root, at, (const uint8_t *)from + r->host.at, &rect);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueReadBufferRect(
	cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row_pitch,
	size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void *to,
	cl_uint count, const cl_event *list, cl_event *event)
{
	struct rect r = {buffer_origin,      host_origin,    region,          buffer_row_pitch,
			 buffer_slice_pitch, host_row_pitch, host_slice_pitch};
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_READ_BUFFER_RECT, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, read_rect(&c, m, &r, to), blocking, event);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueWriteBufferRect(
	cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row_pitch,
	size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, const void *from,
	cl_uint count, const cl_event *list, cl_event *event)
{
	struct rect r = {buffer_origin,      host_origin,    region,          buffer_row_pitch,
			 buffer_slice_pitch, host_row_pitch, host_slice_pitch};
	struct command c;

	cl_int error =
		command_begin(&c, queue, CL_COMMAND_WRITE_BUFFER_RECT, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, write_rect(&c, m, &r, from), blocking, event);
}

static cl_int copy_rect(struct command *c, cl_mem from, cl_mem to, const size_t *region,
			const struct side *source, const struct side *target)
{
	if (source->end > from->bytes || target->end > to->bytes)
		return CL_INVALID_VALUE;
	if (from == to && source->slice_pitch != target->slice_pitch &&
	    source->row_pitch != target->row_pitch)
		return CL_INVALID_VALUE;
	struct dxp_rect rect = rect_of(region, source, target);
	uint64_t from_at = source->at, to_at = target->at;
	cl_mem from_root = memory_root(from, &from_at), to_root = memory_root(to, &to_at);
	rect_fold(&rect);
	if (from_root == to_root && rect_overlaps(&rect, from_at, to_at))
		return CL_MEM_COPY_OVERLAP;
	cl_int error = enqueue_hold(&c->e, from);
	if (error == CL_SUCCESS)
		error = enqueue_hold(&c->e, to);
	return error != CL_SUCCESS
		       ? error
		       : transfer_copy_rect(c, from_root, from_at, to_root, to_at, &rect);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueCopyBufferRect(
	cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
	const size_t *to_origin, const size_t *region, size_t from_row_pitch,
	size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch, cl_uint count,
	const cl_event *list, cl_event *event)
{
	struct side source, target;
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_COPY_BUFFER_RECT, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = memory_check_buffer(from, queue);
	if (error == CL_SUCCESS)
		error = memory_check_buffer(to, queue);
	if (error == CL_SUCCESS && (!from_origin || !to_origin || !region_valid(region)))
		error = CL_INVALID_VALUE;
	if (error == CL_SUCCESS)
		error = side_make(from_origin, region, from_row_pitch, from_slice_pitch, &source);
	if (error == CL_SUCCESS)
		error = side_make(to_origin, region, to_row_pitch, to_slice_pitch, &target);
	if (error == CL_SUCCESS)
		error = copy_rect(&c, from, to, region, &source, &target);
	return command_end(&c, error, false, event);
}
