/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "plugins/opencl/memory/rect.h"

static uint64_t span(const struct dxp_rect *r, uint64_t row_pitch, uint64_t slice_pitch)
{
	return (r->slices - 1) * slice_pitch + (r->rows - 1) * row_pitch + r->row_bytes;
}

uint64_t rect_from_span(const struct dxp_rect *r)
{
	return span(r, r->from_row_pitch, r->from_slice_pitch);
}

uint64_t rect_to_span(const struct dxp_rect *r)
{
	return span(r, r->to_row_pitch, r->to_slice_pitch);
}

uint64_t rect_bytes(const struct dxp_rect *r)
{
	return r->row_bytes * r->rows * r->slices;
}

static void settle(struct dxp_rect *r)
{
	if (!r->from_row_pitch)
		r->from_row_pitch = r->row_bytes;
	if (!r->to_row_pitch)
		r->to_row_pitch = r->row_bytes;
	if (!r->from_slice_pitch)
		r->from_slice_pitch = r->from_row_pitch * r->rows;
	if (!r->to_slice_pitch)
		r->to_slice_pitch = r->to_row_pitch * r->rows;
	/* The pitch of a single row or slice has no effect, so it gets a fixed value. */
	if (r->rows == 1)
		r->from_row_pitch = r->to_row_pitch = r->row_bytes;
	if (r->slices == 1) {
		r->from_slice_pitch = r->from_row_pitch * r->rows;
		r->to_slice_pitch = r->to_row_pitch * r->rows;
	}
}

void rect_fold(struct dxp_rect *r)
{
	settle(r);
	/* Adjacent rows of a slice become one row. Slices of one row become rows. */
	if (r->from_row_pitch == r->row_bytes && r->to_row_pitch == r->row_bytes) {
		r->row_bytes *= r->rows;
		r->rows = 1;
	}
	if (r->rows == 1 && r->slices > 1) {
		r->rows = r->slices;
		r->from_row_pitch = r->from_slice_pitch;
		r->to_row_pitch = r->to_slice_pitch;
		r->slices = 1;
		r->from_slice_pitch = r->to_slice_pitch = 0;
		settle(r);
		if (r->from_row_pitch == r->row_bytes && r->to_row_pitch == r->row_bytes) {
			r->row_bytes *= r->rows;
			r->rows = 1;
		}
	}
	/* If slices follow each other as rows do, all slices become one. */
	if (r->slices > 1 && r->from_slice_pitch == r->from_row_pitch * r->rows &&
	    r->to_slice_pitch == r->to_row_pitch * r->rows) {
		r->rows *= r->slices;
		r->slices = 1;
	}
	settle(r);
}

bool rect_is_line(const struct dxp_rect *r)
{
	return r->rows == 1 && r->slices == 1;
}

uint64_t rect_from_row(const struct dxp_rect *r, uint64_t index)
{
	return index / r->rows * r->from_slice_pitch + index % r->rows * r->from_row_pitch;
}

uint64_t rect_to_row(const struct dxp_rect *r, uint64_t index)
{
	return index / r->rows * r->to_slice_pitch + index % r->rows * r->to_row_pitch;
}

void rect_pack_from(struct dxp_rect *r)
{
	r->from_row_pitch = r->row_bytes;
	r->from_slice_pitch = r->row_bytes * r->rows;
}

void rect_pack_to(struct dxp_rect *r)
{
	r->to_row_pitch = r->row_bytes;
	r->to_slice_pitch = r->row_bytes * r->rows;
}

bool rect_from_is_tight(const struct dxp_rect *r)
{
	return rect_from_span(r) == rect_bytes(r);
}

bool rect_to_is_tight(const struct dxp_rect *r)
{
	return rect_to_span(r) == rect_bytes(r);
}

void rect_copy(const struct dxp_rect *r, void *to, const void *from)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	/* memmove: a program may read a buffer into the buffer's own host pointer. */
	for (uint64_t i = 0; i < r->rows * r->slices; i++)
		memmove(t + rect_to_row(r, i), f + rect_from_row(r, i), r->row_bytes);
}

/* A row of the `to_` side overlaps the `row_bytes` bytes before `end`. The rows ascend, so only the
 * last one that begins before `end` needs a check. */
static bool to_row_meets(const struct dxp_rect *r, uint64_t end)
{
	uint64_t last = end - 1, z = last / r->to_slice_pitch;

	if (z >= r->slices)
		z = r->slices - 1;
	uint64_t y = (last - z * r->to_slice_pitch) / r->to_row_pitch;
	if (y >= r->rows)
		y = r->rows - 1;
	uint64_t begin = z * r->to_slice_pitch + y * r->to_row_pitch;
	return begin + 2 * r->row_bytes > end;
}

bool rect_overlaps(const struct dxp_rect *r, uint64_t from, uint64_t to)
{
	for (uint64_t i = 0; i < r->rows * r->slices; i++) {
		uint64_t end = from + rect_from_row(r, i) + r->row_bytes;
		if (end > to && to_row_meets(r, end - to))
			return true;
	}
	return false;
}
