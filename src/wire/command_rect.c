/* SPDX-License-Identifier: BSD-3-Clause */
/* Rectangles of bytes: pitches and spans of their sides. */
#include "wire/command.h"

void command_rect_pitches(const struct dxp_rect *b, enum command_rect_side side,
			  uint64_t *row_pitch, uint64_t *slice_pitch)
{
	uint64_t row = side == RECT_FROM ? b->from_row_pitch : b->to_row_pitch;
	uint64_t slice = side == RECT_FROM ? b->from_slice_pitch : b->to_slice_pitch;

	*row_pitch = row ? row : b->row_bytes;
	*slice_pitch = slice ? slice : *row_pitch * b->rows;
}

bool command_rect_span(const struct dxp_rect *b, enum command_rect_side side, uint64_t *bytes)
{
	uint64_t row, slice, rows, slices, whole;

	if (b->row_bytes == 0 || b->rows == 0 || b->slices == 0)
		return false;
	command_rect_pitches(b, side, &row, &slice);
	if (row < b->row_bytes || __builtin_mul_overflow(row, b->rows, &whole) || slice < whole)
		return false;
	rows = row * (b->rows - 1);
	if (__builtin_mul_overflow(slice, b->slices - 1, &slices) ||
	    __builtin_add_overflow(slices, rows, &whole) ||
	    __builtin_add_overflow(whole, b->row_bytes, &whole))
		return false;
	*bytes = whole;
	return true;
}
