/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "plugins/opencl/memory/rect.h"

static uint64_t span(const struct dxp_rect *b, uint64_t row_pitch, uint64_t slice_pitch)
{
	return (b->slices - 1) * slice_pitch + (b->rows - 1) * row_pitch + b->row_bytes;
}

uint64_t rect_from_span(const struct dxp_rect *b)
{
	return span(b, b->from_row_pitch, b->from_slice_pitch);
}

uint64_t rect_to_span(const struct dxp_rect *b)
{
	return span(b, b->to_row_pitch, b->to_slice_pitch);
}

uint64_t rect_bytes(const struct dxp_rect *b)
{
	return b->row_bytes * b->rows * b->slices;
}

static void settle(struct dxp_rect *b)
{
	if (!b->from_row_pitch)
		b->from_row_pitch = b->row_bytes;
	if (!b->to_row_pitch)
		b->to_row_pitch = b->row_bytes;
	if (!b->from_slice_pitch)
		b->from_slice_pitch = b->from_row_pitch * b->rows;
	if (!b->to_slice_pitch)
		b->to_slice_pitch = b->to_row_pitch * b->rows;
	/* The pitch of a single row or slice has no effect. */
	if (b->rows == 1)
		b->from_row_pitch = b->to_row_pitch = b->row_bytes;
	if (b->slices == 1) {
		b->from_slice_pitch = b->from_row_pitch * b->rows;
		b->to_slice_pitch = b->to_row_pitch * b->rows;
	}
}

void rect_fold(struct dxp_rect *b)
{
	settle(b);
	/* Adjacent rows merge into one row; a slice of one row becomes a row. */
	if (b->from_row_pitch == b->row_bytes && b->to_row_pitch == b->row_bytes) {
		b->row_bytes *= b->rows;
		b->rows = 1;
	}
	if (b->rows == 1 && b->slices > 1) {
		b->rows = b->slices;
		b->from_row_pitch = b->from_slice_pitch;
		b->to_row_pitch = b->to_slice_pitch;
		b->slices = 1;
		b->from_slice_pitch = b->to_slice_pitch = 0;
		settle(b);
		if (b->from_row_pitch == b->row_bytes && b->to_row_pitch == b->row_bytes) {
			b->row_bytes *= b->rows;
			b->rows = 1;
		}
	}
	/* Slices spaced like rows become more rows. */
	if (b->slices > 1 && b->from_slice_pitch == b->from_row_pitch * b->rows &&
	    b->to_slice_pitch == b->to_row_pitch * b->rows) {
		b->rows *= b->slices;
		b->slices = 1;
	}
	settle(b);
}

bool rect_is_line(const struct dxp_rect *b)
{
	return b->rows == 1 && b->slices == 1;
}

uint64_t rect_from_row(const struct dxp_rect *b, uint64_t index)
{
	return index / b->rows * b->from_slice_pitch + index % b->rows * b->from_row_pitch;
}

uint64_t rect_to_row(const struct dxp_rect *b, uint64_t index)
{
	return index / b->rows * b->to_slice_pitch + index % b->rows * b->to_row_pitch;
}

void rect_pack_from(struct dxp_rect *b)
{
	b->from_row_pitch = b->row_bytes;
	b->from_slice_pitch = b->row_bytes * b->rows;
}

void rect_pack_to(struct dxp_rect *b)
{
	b->to_row_pitch = b->row_bytes;
	b->to_slice_pitch = b->row_bytes * b->rows;
}

bool rect_from_is_tight(const struct dxp_rect *b)
{
	return rect_from_span(b) == rect_bytes(b);
}

bool rect_to_is_tight(const struct dxp_rect *b)
{
	return rect_to_span(b) == rect_bytes(b);
}

void rect_copy(const struct dxp_rect *b, void *to, const void *from)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	/* Source and destination may be the same memory: a program may read a buffer into its own
	 * host pointer. */
	for (uint64_t i = 0; i < b->rows * b->slices; i++)
		memmove(t + rect_to_row(b, i), f + rect_from_row(b, i), b->row_bytes);
}

/* Returns whether a row of the to_ side overlaps the row_bytes before `end`. Rows ascend, so only
 * the last row that begins before `end` needs a check. */
static bool to_row_meets(const struct dxp_rect *b, uint64_t end)
{
	uint64_t last = end - 1, z = last / b->to_slice_pitch;

	if (z >= b->slices)
		z = b->slices - 1;
	uint64_t y = (last - z * b->to_slice_pitch) / b->to_row_pitch;
	if (y >= b->rows)
		y = b->rows - 1;
	uint64_t begin = z * b->to_slice_pitch + y * b->to_row_pitch;
	return begin + 2 * b->row_bytes > end;
}

bool rect_overlaps(const struct dxp_rect *b, uint64_t from, uint64_t to)
{
	for (uint64_t i = 0; i < b->rows * b->slices; i++) {
		uint64_t end = from + rect_from_row(b, i) + b->row_bytes;
		if (end > to && to_row_meets(b, end - to))
			return true;
	}
	return false;
}
