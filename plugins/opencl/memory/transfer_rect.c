/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of rectangles of root objects. Long rows are transferred one by one, without
 * intermediate copies. Short rows are moved together: without the gaps between them, or with the
 * gaps if these are small. */
#include "plugins/opencl/memory/memory.h"

#define ROW_BYTES 8192 /* bytes; a row of at least this length gets a command of its own */
#define ROWS_FEW  4    /* rows; up to this number, rows are not gathered */
/* rows; ranges that a rectangle may add to the lists of an object */
#define ROWS_KEPT 64
/* The gaps between rows are transferred too, if the span has at most this many times the bytes of
 * the rows. */
#define SPAN_NEAR 2

static bool by_rows(const struct dxp_rect *r)
{
	return r->row_bytes >= ROW_BYTES || r->rows * r->slices <= ROWS_FEW;
}

static cl_int read_rows(struct command *c, cl_mem root, uint64_t at, void *to,
			const struct dxp_rect *r)
{
	for (uint64_t i = 0; i < r->rows * r->slices; i++) {
		cl_int error = transfer_read(c, root, at + rect_from_row(r, i),
					     (uint8_t *)to + rect_to_row(r, i), r->row_bytes);
		if (error != CL_SUCCESS)
			return error;
	}
	return CL_SUCCESS;
}

/* Creates memory that is freed when the command completes. */
static cl_int temporary(struct command *c, uint64_t bytes, cl_mem *out)
{
	cl_mem m = memory_temporary(c->e.queue->context, bytes);

	if (!m)
		return CL_OUT_OF_HOST_MEMORY;
	cl_int error = enqueue_hold(&c->e, m);
	object_drop(m);
	*out = m;
	return error;
}

/* Reads all bytes from the first row to the last, with the gaps. The host then copies the rows. */
static cl_int read_span(struct command *c, cl_mem root, uint64_t at, void *to,
			const struct dxp_rect *r)
{
	uint64_t span = rect_from_span(r);
	cl_mem t;

	cl_int error = temporary(c, span, &t);
	if (error != CL_SUCCESS)
		return error;
	uint8_t *staging = memory_host(t);
	if (!staging)
		return CL_OUT_OF_HOST_MEMORY;
	error = transfer_read(c, root, at, staging, span);
	return error != CL_SUCCESS ? error : command_unpack(c, to, staging, r);
}

/* Copies the rectangle to temporary memory on the device, without gaps. */
static cl_int pack(struct command *c, cl_mem root, uint64_t at, const struct dxp_rect *rect,
		   cl_mem packed)
{
	uint64_t end = at + rect_from_span(rect);
	struct copy *here, *to;
	struct dxp_rect b = *rect;
	dxp_event event = 0;

	cl_int error = memory_both_here(&c->e, root, &here, packed, &to);
	if (error == CL_SUCCESS)
		error = memory_order(&c->e, here, at, end, MEMORY_READ);
	if (error == CL_SUCCESS)
		error = memory_bring(&c->e, root, here, at, end);
	if (error == CL_SUCCESS && !copies_reserve(packed->copies, 2))
		error = CL_OUT_OF_HOST_MEMORY;
	if (error != CL_SUCCESS)
		return error;
	rect_pack_to(&b);
	int status = dxp_copy(c->e.device->xpu, here->address + at, to->address, &b, &c->e.waits,
			      &event);
	copies_wrote(packed->copies, to, 0, packed->bytes);
	error = command_step(c, c->e.device, status, event, packed);
	return error;
}

/* Gathers the rows on the device, then reads them in one transfer. */
static cl_int read_packed(struct command *c, cl_mem root, uint64_t at, void *to, struct dxp_rect b)
{
	uint64_t bytes = rect_bytes(&b);
	cl_mem t;

	cl_int error = temporary(c, bytes, &t);
	if (error == CL_SUCCESS)
		error = pack(c, root, at, &b, t);
	if (error != CL_SUCCESS)
		return error;
	if (rect_to_is_tight(&b))
		return transfer_read(c, t, 0, to, bytes);
	rect_pack_from(&b);
	uint8_t *staging = memory_host(t);
	if (!staging)
		return CL_OUT_OF_HOST_MEMORY;
	error = transfer_read(c, t, 0, staging, bytes);
	return error != CL_SUCCESS ? error : command_unpack(c, to, staging, &b);
}

cl_int transfer_read_rect(struct command *c, cl_mem root, uint64_t at, void *to,
			  const struct dxp_rect *rect)
{
	struct dxp_rect b = *rect;

	rect_fold(&b);
	uint64_t span = rect_from_span(&b);
	memory_settle(root);
	struct copy *host = &root->copies->host;
	if (ranges_has(&host->latest, at, at + span)) {
		cl_int error = memory_order(&c->e, host, at, at + span, MEMORY_READ);
		return error != CL_SUCCESS ? error
					   : command_unpack(c, to, memory_host(root) + at, &b);
	}
	if (by_rows(&b))
		return read_rows(c, root, at, to, &b);
	if (span <= SPAN_NEAR * rect_bytes(&b))
		return read_span(c, root, at, to, &b);
	return read_packed(c, root, at, to, b);
}

static cl_int write_rows(struct command *c, cl_mem root, uint64_t at, const void *from,
			 const struct dxp_rect *r)
{
	for (uint64_t i = 0; i < r->rows * r->slices; i++) {
		cl_int error =
			transfer_write(c, root, at + rect_to_row(r, i),
				       (const uint8_t *)from + rect_from_row(r, i), r->row_bytes);
		if (error != CL_SUCCESS)
			return error;
	}
	return CL_SUCCESS;
}

void transfer_wrote_rect(cl_mem root, struct copy *copy, uint64_t at, const struct dxp_rect *r,
			 bool whole)
{
	uint64_t span = rect_to_span(r);

	/* A copy that had all bytes of the span still has them. Otherwise only the written rows are
	 * the latest here. */
	if (whole || ranges_has(&copy->latest, at, at + span)) {
		copies_wrote(root->copies, copy, at, at + span);
		return;
	}
	for (uint64_t i = 0; i < r->rows * r->slices; i++) {
		uint64_t row = at + rect_to_row(r, i);
		if (copies_reserve(root->copies, 2))
			copies_wrote(root->copies, copy, row, row + r->row_bytes);
	}
}

static bool many_rows(const struct dxp_rect *r)
{
	return r->rows * r->slices > ROWS_KEPT;
}

/* Returns the device copy to write a rectangle to. If there are many rows, also transfers the gaps
 * to it, so that the lists of ranges stay short. */
static cl_int target_rect(struct command *c, cl_mem root, uint64_t at, const struct dxp_rect *r,
			  struct copy **here)
{
	uint64_t end = at + rect_to_span(r);

	cl_int error = memory_here(&c->e, root, here);
	command_writes(c, root, at, end);
	if (error == CL_SUCCESS)
		error = memory_order(&c->e, *here, at, end, MEMORY_WRITE);
	if (error == CL_SUCCESS && many_rows(r))
		error = memory_bring(&c->e, root, *here, at, end);
	if (error == CL_SUCCESS && !copies_reserve(root->copies, 2 + ROWS_KEPT))
		error = CL_OUT_OF_HOST_MEMORY;
	return error;
}

/* Writes all rows in one transfer: to their destination if it is contiguous, else to temporary
 * device memory, from which the device copies them. */
static cl_int write_packed(struct command *c, cl_mem root, uint64_t at, const void *from,
			   struct dxp_rect b)
{
	uint64_t bytes = rect_bytes(&b);
	struct copy *here, *pack;
	struct dxp_rect in = b;
	cl_mem t;

	cl_int error = temporary(c, bytes, &t);
	if (error != CL_SUCCESS)
		return error;
	if (!rect_from_is_tight(&b)) {
		uint8_t *staging = memory_host(t);
		if (!staging)
			return CL_OUT_OF_HOST_MEMORY;
		rect_pack_to(&in);
		rect_copy(&in, staging, from);
		from = staging;
	}
	if (rect_to_is_tight(&b))
		return transfer_write(c, root, at, from, bytes);
	error = memory_here(&c->e, t, &pack);
	if (error == CL_SUCCESS)
		error = target_rect(c, root, at, &b, &here);
	if (error != CL_SUCCESS)
		return error;
	uint64_t address = copies_of(t->copies, c->e.device)->address;
	dxp_event event;
	cl_device_id d = c->e.device;
	trace_moved(NULL, d, bytes);
	int status = dxp_write(d->xpu, address, from, bytes, &c->e.waits, &event);
	error = command_step(c, d, status, event, t);
	if (error != CL_SUCCESS)
		return error;
	rect_pack_from(&b);
	status = dxp_copy(d->xpu, address, here->address + at, &b, &c->e.waits, &event);
	error = command_part(c, d, status, event);
	if (error == CL_SUCCESS)
		transfer_wrote_rect(root, here, at, &b, many_rows(&b));
	return error;
}

cl_int transfer_write_rect(struct command *c, cl_mem root, uint64_t at, const void *from,
			   const struct dxp_rect *rect)
{
	struct dxp_rect b = *rect;

	rect_fold(&b);
	/* The host cannot gather rows that a pending command still writes. */
	if (by_rows(&b) || (!c->e.settled && command_host_is_pending(from, rect_from_span(&b))))
		return write_rows(c, root, at, from, &b);
	c->e.event->bytes += rect_bytes(&b);
	return write_packed(c, root, at, from, b);
}

cl_int transfer_fill(struct command *c, cl_mem root, uint64_t at, const struct dxp_rect *rect,
		     const void *pattern, uint32_t pattern_bytes)
{
	struct dxp_rect b = *rect;
	struct copy *here;
	dxp_event event = 0;

	rect_fold(&b);
	c->e.event->bytes += rect_bytes(&b);
	cl_int error = target_rect(c, root, at, &b, &here);
	if (error != CL_SUCCESS)
		return error;
	int status = dxp_fill(c->e.device->xpu, here->address + at, pattern, pattern_bytes, &b,
			      &c->e.waits, &event);
	error = command_part(c, c->e.device, status, event);
	if (error == CL_SUCCESS)
		transfer_wrote_rect(root, here, at, &b, many_rows(&b));
	return error;
}

cl_int transfer_copy_rect(struct command *c, cl_mem from, uint64_t from_at, cl_mem to,
			  uint64_t to_at, const struct dxp_rect *rect)
{
	struct dxp_rect b = *rect;
	struct copy *source, *here;
	dxp_event event = 0;

	rect_fold(&b);
	if (rect_is_line(&b))
		return transfer_copy(c, from, from_at, to, to_at, b.row_bytes);
	uint64_t end = from_at + rect_from_span(&b);
	c->e.event->bytes += rect_bytes(&b);
	cl_int error = target_rect(c, to, to_at, &b, &here);
	if (error == CL_SUCCESS)
		error = memory_both_here(&c->e, from, &source, to, &here);
	if (error == CL_SUCCESS)
		error = memory_order(&c->e, source, from_at, end, MEMORY_READ);
	if (error == CL_SUCCESS)
		error = memory_bring(&c->e, from, source, from_at, end);
	if (error != CL_SUCCESS)
		return error;
	int status = dxp_copy(c->e.device->xpu, source->address + from_at, here->address + to_at,
			      &b, &c->e.waits, &event);
	error = command_part(c, c->e.device, status, event);
	if (error == CL_SUCCESS)
		transfer_wrote_rect(to, here, to_at, &b, many_rows(&b));
	return error;
}
