/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that read, write, copy and fill images, and copy between images and buffers. */
#include "plugins/opencl/memory/memory.h"

/* Bytes in host memory. 0: no gaps between rows or slices. */
struct host_side {
	size_t row_pitch, slice_pitch;
};

static bool has_slices(cl_mem m)
{
	return m->type == CL_MEM_OBJECT_IMAGE3D || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
	       m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

/* Calculates the bytes in host memory between neighbours in the second and in the third dimension
 * of the region. */
static cl_int host_pitches(cl_mem m, const size_t *region, const struct host_side *h,
			   uint64_t *second, uint64_t *third)
{
	uint64_t line = region[0] * format_bytes(&m->format);
	uint64_t row = h->row_pitch ? h->row_pitch : line;
	bool lines = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	uint64_t least, slice;

	if (row < line || __builtin_mul_overflow(row, lines ? 1 : region[1], &least))
		return CL_INVALID_VALUE;
	slice = has_slices(m) && h->slice_pitch ? h->slice_pitch : least;
	if (slice < least)
		return CL_INVALID_VALUE;
	*second = lines ? slice : row;
	*third = lines ? slice * region[1] : slice;
	return CL_SUCCESS;
}

/* The image is the `from_` side of the rectangle, host memory the `to_` side. */
static cl_int host_rect(struct command *c, cl_mem m, const size_t *origin, const size_t *region,
			const struct host_side *h, cl_mem_flags rejected, uint64_t *at,
			struct dxp_rect *rect)
{
	cl_int error = memory_check_image(m, c->e.queue);

	if (error != CL_SUCCESS)
		return error;
	if (!image_region(m, origin, region, at, rect))
		return CL_INVALID_VALUE;
	error = host_pitches(m, region, h, &rect->to_row_pitch, &rect->to_slice_pitch);
	if (error != CL_SUCCESS)
		return error;
	if (m->flags & (rejected | CL_MEM_HOST_NO_ACCESS))
		return CL_INVALID_OPERATION;
	return enqueue_hold(&c->e, m);
}

static void pixel_rotate(struct dxp_rect *r)
{
	uint64_t row = r->from_row_pitch, slice = r->from_slice_pitch;

	r->from_row_pitch = r->to_row_pitch;
	r->from_slice_pitch = r->to_slice_pitch;
	r->to_row_pitch = row;
	r->to_slice_pitch = slice;
}

static cl_int read_image(struct command *c, cl_mem m, const size_t *origin, const size_t *region,
			 const struct host_side *h, void *to)
{
	struct dxp_rect rect;
	uint64_t at;

	cl_int error = host_rect(c, m, origin, region, h, CL_MEM_HOST_WRITE_ONLY, &at, &rect);
	if (error != CL_SUCCESS)
		return error;
	if (!to)
		return CL_INVALID_VALUE;
	cl_mem root = memory_root(m, &at);
	c->to = to;
	c->to_bytes = rect_to_span(&rect);
	return transfer_read_rect(c, root, at, to, &rect);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueReadImage(cl_command_queue queue, cl_mem m,
						       cl_bool blocking, const size_t *origin,
						       const size_t *region, size_t row_pitch,
						       size_t slice_pitch, void *to, cl_uint count,
						       const cl_event *list, cl_event *event)
{
	const struct host_side h = {row_pitch, slice_pitch};
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_READ_IMAGE, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, read_image(&c, m, origin, region, &h, to), blocking, event);
}

static cl_int write_image(struct command *c, cl_mem m, const size_t *origin, const size_t *region,
			  const struct host_side *h, const void *from)
{
	struct dxp_rect rect;
	uint64_t at;

	cl_int error = host_rect(c, m, origin, region, h, CL_MEM_HOST_READ_ONLY, &at, &rect);
	if (error != CL_SUCCESS)
		return error;
	if (!from)
		return CL_INVALID_VALUE;
	cl_mem root = memory_root(m, &at);
	pixel_rotate(&rect);
	return transfer_write_rect(c, root, at, from, &rect);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueWriteImage(cl_command_queue queue, cl_mem m,
							cl_bool blocking, const size_t *origin,
							const size_t *region, size_t row_pitch,
							size_t slice_pitch, const void *from,
							cl_uint count, const cl_event *list,
							cl_event *event)
{
	const struct host_side h = {row_pitch, slice_pitch};
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_WRITE_IMAGE, blocking, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, write_image(&c, m, origin, region, &h, from), blocking, event);
}

static cl_int fill_image(struct command *c, cl_mem m, const void *color, const size_t *origin,
			 const size_t *region)
{
	uint8_t pixel[16];
	struct dxp_rect rect;
	uint64_t at;

	cl_int error = memory_check_image(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (!color || !image_region(m, origin, region, &at, &rect))
		return CL_INVALID_VALUE;
	error = enqueue_hold(&c->e, m);
	if (error != CL_SUCCESS)
		return error;
	uint32_t bytes = (uint32_t)format_pack(&m->format, color, pixel);
	cl_mem root = memory_root(m, &at);
	return transfer_fill(c, root, at, &rect, pixel, bytes);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueFillImage(cl_command_queue queue, cl_mem m,
						       const void *color, const size_t *origin,
						       const size_t *region, cl_uint count,
						       const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_FILL_IMAGE, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, fill_image(&c, m, color, origin, region), false, event);
}

static bool same_format(cl_mem a, cl_mem b)
{
	return a->format.image_channel_order == b->format.image_channel_order &&
	       a->format.image_channel_data_type == b->format.image_channel_data_type;
}

static cl_int copy_rect(struct command *c, cl_mem from, uint64_t from_at, cl_mem to, uint64_t to_at,
			const struct dxp_rect *rect)
{
	struct dxp_rect b = *rect;
	cl_mem from_root = memory_root(from, &from_at), to_root = memory_root(to, &to_at);

	rect_fold(&b);
	if (from_root == to_root && rect_overlaps(&b, from_at, to_at))
		return CL_MEM_COPY_OVERLAP;
	cl_int error = enqueue_hold(&c->e, from);
	if (error == CL_SUCCESS)
		error = enqueue_hold(&c->e, to);
	return error != CL_SUCCESS ? error
				   : transfer_copy_rect(c, from_root, from_at, to_root, to_at, &b);
}

static cl_int copy_image(struct command *c, cl_mem from, cl_mem to, const size_t *from_origin,
			 const size_t *to_origin, const size_t *region)
{
	struct dxp_rect source, target;
	uint64_t from_at, to_at;

	cl_int error = memory_check_image(from, c->e.queue);
	if (error == CL_SUCCESS)
		error = memory_check_image(to, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	if (!same_format(from, to))
		return CL_IMAGE_FORMAT_MISMATCH;
	if (!image_region(from, from_origin, region, &from_at, &source) ||
	    !image_region(to, to_origin, region, &to_at, &target))
		return CL_INVALID_VALUE;
	source.to_row_pitch = target.to_row_pitch;
	source.to_slice_pitch = target.to_slice_pitch;
	return copy_rect(c, from, from_at, to, to_at, &source);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueCopyImage(cl_command_queue queue, cl_mem from,
						       cl_mem to, const size_t *from_origin,
						       const size_t *to_origin,
						       const size_t *region, cl_uint count,
						       const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_COPY_IMAGE, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = copy_image(&c, from, to, from_origin, to_origin, region);
	return command_end(&c, error, false, event);
}

/* The image is the `from_` side; the buffer, without gaps between rows, is the `to_` side. */
static cl_int buffer_rect(struct command *c, cl_mem image, cl_mem buffer, const size_t *origin,
			  const size_t *region, size_t offset, uint64_t *at, struct dxp_rect *rect)
{
	cl_int error = memory_check_image(image, c->e.queue);

	if (error == CL_SUCCESS)
		error = memory_check_buffer(buffer, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	/* An image must not be copied from or to the buffer it was made from. */
	if (image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER && image->parent == buffer)
		return CL_INVALID_MEM_OBJECT;
	if (!image_region(image, origin, region, at, rect))
		return CL_INVALID_VALUE;
	rect_pack_to(rect);
	uint64_t bytes = rect_bytes(rect);
	if (offset > buffer->bytes || bytes > buffer->bytes - offset)
		return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image,
							       cl_mem buffer, const size_t *origin,
							       const size_t *region, size_t offset,
							       cl_uint count, const cl_event *list,
							       cl_event *event)
{
	struct dxp_rect rect;
	struct command c;
	uint64_t at;

	cl_int error =
		command_begin(&c, queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = buffer_rect(&c, image, buffer, origin, region, offset, &at, &rect);
	if (error == CL_SUCCESS)
		error = copy_rect(&c, image, at, buffer, offset, &rect);
	return command_end(&c, error, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueCopyBufferToImage(
	cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset, const size_t *origin,
	const size_t *region, cl_uint count, const cl_event *list, cl_event *event)
{
	struct dxp_rect rect;
	struct command c;
	uint64_t at;

	cl_int error =
		command_begin(&c, queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	error = buffer_rect(&c, image, buffer, origin, region, offset, &at, &rect);
	if (error == CL_SUCCESS) {
		pixel_rotate(&rect);
		error = copy_rect(&c, buffer, offset, image, at, &rect);
	}
	return command_end(&c, error, false, event);
}
